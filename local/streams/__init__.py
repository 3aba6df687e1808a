"""Delivers DynamoDB Streams to Lambda functions as AWS Lambda's event source mappings do, and emulates TTL.

The emulator's own stream mappings have no retries, bisection or partial failures. Here the mappings are read
from the synthesized templates, and each shard has one ordered reader. ``runner`` starts and stops everything;
``reader`` is the core, and does not depend on AWS.
"""
