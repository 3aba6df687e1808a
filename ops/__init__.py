"""Commands for operators, run against a deployment with their own AWS credentials. Never deployed."""
