"""What operators run against a deployment with AWS credentials of their own. Never deployed itself."""
