"""The SNS topic of a region's alarms, and its subscriptions."""

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.config import Config


def alarm_topic(scope: Construct, *, config: Config, key: kms.IKey | None) -> sns.Topic | None:
    """None where alarms are not sent anywhere. The policy of ``key`` itself lets alarms use it."""
    if not config.alarm_topic:
        return None
    topic = sns.Topic(
        scope,
        "AlarmTopic",
        topic_name=f"session-store-{config.stage}-alarms",
        display_name="Session store",
        enforce_ssl=True,
        master_key=key,
    )
    stack = Stack.of(scope)
    place = f"arn:{stack.partition}:cloudwatch:{stack.region}:{stack.account}"
    alarms = f"{place}:alarm:session-store-{config.stage}-*"
    topic.add_to_resource_policy(
        iam.PolicyStatement(
            sid="Alarms",
            actions=["sns:Publish"],
            resources=[topic.topic_arn],
            principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
            conditions={
                "StringEquals": {"aws:SourceAccount": stack.account},
                "ArnLike": {"aws:SourceArn": alarms},
            },
        )
    )
    for address in dict.fromkeys(config.alarm_emails):
        topic.add_subscription(subscriptions.EmailSubscription(address))
    return topic
