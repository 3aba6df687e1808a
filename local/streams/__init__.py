"""Delivers DynamoDB Streams to Lambda functions as AWS Lambda's event source mappings do, and expires items.

The emulator's own stream mappings have no retries, bisecting or partial failures. Here the mappings are read
from the synthesized templates, and each shard has one ordered reader. ``runner`` starts and stops everything;
``reader`` has the delivery rules, without any AWS client.
"""
