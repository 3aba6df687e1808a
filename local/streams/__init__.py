"""DynamoDB Streams delivered to Lambda functions as AWS Lambda's event source mappings do, and TTL beside it.

The emulator's own stream mappings know no retries, no bisecting and no partial failures. Here the mappings
are read from the synthesized templates, and each shard has one ordered reader. ``runner`` starts and stops
all of it; ``reader`` is the heart, and knows nothing of AWS.
"""
