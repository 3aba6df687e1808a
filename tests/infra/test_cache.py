"""The cache: its network, who reaches it, and what it may read."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from infra.cache.cluster import cluster_name
from infra.cache.network import zones
from infra.logged_function import INTERFACE_ACTIONS
from tests.infra.conftest import PACKAGES, Synthesize, Synthesized, as_text
from tests.infra.test_config import read

CACHE = "Cache-us-east-1"
EC2 = "AWS::EC2::"

ENDPOINTS = {
    "dynamodb": "dynamodb",
    "dynamodb streams": "dynamodb-streams",
    "lambda": "lambda",
    "s3": "s3",
    "sqs": "sqs",
    "xray": "xray",
}
"""By what a permission is for, the endpoint that carries it; Lambda itself writes logs and connects."""


def properties(synthesized: Synthesized, kind: str, *, stack: str = CACHE) -> list[Mapping[str, Any]]:
    return [found["Properties"] for found in synthesized.of_stack(stack, kind).values()]


def single(synthesized: Synthesized, kind: str, *, stack: str = CACHE) -> Mapping[str, Any]:
    (found,) = properties(synthesized, kind, stack=stack)
    return found


def service(action: str) -> str | None:
    prefix, _, name = action.partition(":")
    if prefix in ("logs", "ec2"):
        return None
    return "dynamodb streams" if name in ("GetRecords", "GetShardIterator") else prefix


def endpoints(synthesized: Synthesized, *, stack: str = CACHE) -> dict[str, Mapping[str, Any]]:
    found = properties(synthesized, f"{EC2}VPCEndpoint", stack=stack)
    return {as_text(one["ServiceName"]).rpartition(".")[2]: one for one in found}


def rules(synthesized: Synthesized, way: str) -> set[tuple[str, str, int]]:
    """Who is let in, or out, by which group, on which port; of rules that name a group."""
    other = "SourceSecurityGroupId" if way == "Ingress" else "DestinationSecurityGroupId"
    return {
        (as_text(rule["GroupId"]), as_text(rule[other]), rule["FromPort"])
        for rule in properties(synthesized, f"{EC2}SecurityGroup{way}")
    }


def test_there_is_no_cache_unless_it_has_nodes(every: Synthesized) -> None:
    assert every.deployment.caches == {}
    assert not [file for file in every.files if "-Cache-" in file.name]
    assert "VpcConfig" not in every.function("session_api")


def test_the_cluster_is_encrypted_on_its_way_and_at_rest(optional: Synthesized) -> None:
    cluster = single(optional, "AWS::DAX::Cluster")
    assert cluster["ClusterEndpointEncryptionType"] == "TLS"
    assert cluster["SSESpecification"] == {"SSEEnabled": True}
    assert (cluster["NodeType"], cluster["ReplicationFactor"]) == ("dax.t3.small", 3)


def test_items_and_queries_are_kept_for_the_time_that_is_set(optional: Synthesized) -> None:
    group = single(optional, "AWS::DAX::ParameterGroup")
    assert group["ParameterNameValues"] == {"record-ttl-millis": "3000", "query-ttl-millis": "3000"}


@pytest.mark.parametrize("stage", ["a", "dev", "prod", "a" * 20])
def test_a_clusters_name_is_one_that_dax_takes(stage: str) -> None:
    name = cluster_name(read(stage=stage))
    assert re.fullmatch(r"[a-z](-?[a-z0-9])*", name)
    assert len(name) <= 20


def test_another_stage_or_node_type_is_another_cluster() -> None:
    made = [
        read(stage="abcdefghijone"),
        read(stage="abcdefghijtwo"),
        read(stage="abcdefghijone", daxNodeType="dax.r5.large"),
    ]
    assert len(set(map(cluster_name, made))) == 3
    assert cluster_name(read(daxNodes=1)) == cluster_name(read(daxNodes=3)), "nodes come and go in place"


def test_the_cluster_may_read_one_item_of_one_table(optional: Synthesized) -> None:
    roles = optional.of_stack(CACHE, "AWS::IAM::Role")
    (role,) = (
        name.rpartition("/")[2]
        for name, found in roles.items()
        if "dax.amazonaws.com" in str(found["Properties"]["AssumeRolePolicyDocument"])
    )
    policies = optional.of_stack(CACHE, "AWS::IAM::Policy").items()
    ((name, policy),) = ((n, p) for n, p in policies if p["Properties"]["Roles"] == [{"Ref": role}])
    (statement,) = policy["Properties"]["PolicyDocument"]["Statement"]
    (cluster,) = optional.of_stack(CACHE, "AWS::DAX::Cluster").values()
    assert name.rpartition("/")[2] in cluster["DependsOn"], "it reads the table as soon as it is there"
    assert statement["Action"] == ["dynamodb:DescribeTable", "dynamodb:GetItem"]
    assert as_text(statement["Resource"]).endswith(":table/session-store-dev")


def test_subnets_lie_in_three_zones_that_no_account_is_asked_for(optional: Synthesized) -> None:
    subnets = properties(optional, f"{EC2}Subnet")
    assert [subnet["AvailabilityZone"] for subnet in subnets] == [
        {"Fn::Select": [at, {"Fn::GetAZs": ""}]} for at in range(3)
    ]
    manifest = (optional.folder / "manifest.json").read_text()
    assert '"missing"' not in manifest


def test_an_account_is_not_asked_for_zones_either(cached_apart: Synthesized) -> None:
    assert '"missing"' not in (cached_apart.folder / "manifest.json").read_text()


def test_zones_are_as_many_as_a_region_has_and_nodes_need() -> None:
    counts = {
        (region, nodes): len(zones(read(daxNodes=nodes), region=region))
        for region in ("us-east-1", "us-west-1")
        for nodes in (1, 3, 11)
    }
    assert counts == {
        ("us-east-1", 1): 2,
        ("us-east-1", 3): 3,
        ("us-east-1", 11): 3,
        ("us-west-1", 1): 2,
        ("us-west-1", 3): 2,
        ("us-west-1", 11): 2,
    }


def test_nothing_leads_out_of_an_isolated_network(optional: Synthesized) -> None:
    for kind in ("InternetGateway", "NatGateway", "Route", "EIP"):
        assert optional.of_stack(CACHE, f"{EC2}{kind}") == {}


def test_with_a_way_out_each_zone_has_its_own_and_the_cache_has_none(cached_apart: Synthesized) -> None:
    for region, count in (("us-east-1", 3), ("us-west-1", 2)):
        stack = f"Cache-{region}"
        assert len(properties(cached_apart, f"{EC2}NatGateway", stack=stack)) == count
        routes = properties(cached_apart, f"{EC2}Route", stack=stack)
        routed = {as_text(route["RouteTableId"]) for route in routes}
        assert not [table for table in routed if "CacheSubnet" in table]
        assert not [
            subnet
            for subnet in properties(cached_apart, f"{EC2}Subnet", stack=stack)
            if subnet.get("MapPublicIpOnLaunch")
        ]


def test_every_service_that_the_function_calls_has_an_endpoint(optional: Synthesized) -> None:
    called = {
        service(action) for actions in optional.allowed("session_api").values() for action in actions
    } - {None}
    assert {ENDPOINTS[str(name)] for name in called} == set(endpoints(optional))


def test_with_a_way_out_only_what_is_free_has_an_endpoint(cached_apart: Synthesized) -> None:
    assert set(endpoints(cached_apart)) == {"dynamodb", "s3"}


def test_streams_are_found_by_the_name_of_their_endpoint(
    optional: Synthesized, cached_apart: Synthesized, dev: Synthesized
) -> None:
    """Theirs alone has no private name."""
    found = endpoints(optional)
    assert {name: one.get("PrivateDnsEnabled") for name, one in found.items()} == {
        "dynamodb": None,
        "dynamodb-streams": False,
        "lambda": True,
        "s3": None,
        "sqs": True,
        "xray": True,
    }
    name = "AWS_ENDPOINT_URL_DYNAMODB_STREAMS"
    variables = optional.function("session_api")["Environment"]["Variables"]
    assert as_text(variables[name]) == "<SessionStore-dev-Cache-us-east-1.StreamsUrl>"
    for other in (cached_apart, dev):
        assert name not in other.function("session_api")["Environment"]["Variables"]


def test_endpoints_serve_principals_of_this_account_alone(optional: Synthesized) -> None:
    for name, endpoint in endpoints(optional).items():
        (statement,) = endpoint["PolicyDocument"]["Statement"]
        keys = {"aws:PrincipalAccount"} | ({"aws:ResourceAccount"} if name in ("dynamodb", "s3") else set())
        assert statement["Condition"] == {"StringEquals": {key: {"Ref": "AWS::AccountId"} for key in keys}}


def test_only_the_functions_group_reaches_the_cluster_and_the_endpoints(optional: Synthesized) -> None:
    function = "<NetworkOfFunction.GroupId>"
    assert rules(optional, "Ingress") == {
        ("<DaxGroup.GroupId>", function, 9111),
        ("<NetworkOfFunctions.GroupId>", function, 443),
        ("<NetworkOfQueues.GroupId>", function, 443),
        ("<NetworkOfStreams.GroupId>", function, 443),
        ("<NetworkOfTraces.GroupId>", function, 443),
    }
    assert rules(optional, "Egress") == {(function, "<DaxGroup.GroupId>", 9111)}
    for group in properties(optional, f"{EC2}SecurityGroup"):
        assert "SecurityGroupIngress" not in group


def test_the_default_group_lets_nothing_through_and_traffic_is_logged(optional: Synthesized) -> None:
    assert len(optional.of_stack(CACHE, "Custom::VpcRestrictDefaultSG")) == 1
    assert single(optional, f"{EC2}FlowLog")["TrafficType"] == "ALL"
    assert single(optional, "AWS::Logs::LogGroup")["RetentionInDays"] == 7


def test_the_apis_function_stands_in_the_network_and_no_other_does(
    optional: Synthesized, cached_apart: Synthesized
) -> None:
    for synthesized, name in ((optional, "CacheSubnet"), (cached_apart, "FunctionSubnet")):
        for package in PACKAGES:
            function = synthesized.function(package)
            assert ("VpcConfig" in function) == (package == "session_api")
        subnets = synthesized.function("session_api")["VpcConfig"]["SubnetIds"]
        assert len(subnets) == 3
        assert all(name in as_text(subnet) for subnet in subnets)


def test_lambda_may_connect_the_function_and_its_code_may_not(optional: Synthesized) -> None:
    function = optional.function("session_api")
    statements = [
        statement
        for statement in optional.statements(function, region="us-east-1")
        if set(INTERFACE_ACTIONS) & set(statement["Action"])
    ]
    assert {statement["Effect"]: statement.get("Condition") for statement in statements} == {
        "Allow": None,
        "Deny": {"Null": {"lambda:SourceFunctionArn": "false"}},
    }
    (denied,) = (statement for statement in statements if statement["Effect"] == "Deny")
    assert denied["Action"] == list(INTERFACE_ACTIONS)


def test_nothing_may_use_the_cluster_yet_and_the_synthesis_says_so(optional: Synthesized) -> None:
    for package in PACKAGES:
        actions = set().union(*optional.allowed(package).values())
        assert not [action for action in actions if action.startswith("dax:")]
        assert not [name for name in optional.function(package)["Environment"]["Variables"] if "DAX" in name]
    assert "Nothing reads through the DAX cluster" in (optional.folder / "validation-report.json").read_text()


def test_the_cluster_is_watched_where_the_region_is(optional: Synthesized, dev: Synthesized) -> None:
    def watched(synthesized: Synthesized) -> dict[str, Mapping[str, Any]]:
        alarms = synthesized.properties("AWS::CloudWatch::Alarm", region="us-east-1")
        return {alarm["MetricName"]: alarm for alarm in alarms if alarm.get("Namespace") == "AWS/DAX"}

    found = watched(optional)
    assert set(found) == {"CPUUtilization", "FaultRequestCount", "EvictedSize"}
    name = single(optional, "AWS::DAX::Cluster")["ClusterName"]
    for alarm in found.values():
        assert alarm["Dimensions"] == [{"Name": "ClusterId", "Value": name}]
    assert watched(dev) == {}


def test_with_more_nodes_no_subnet_moves(synthesize: Synthesize) -> None:
    def ranges(nodes: int) -> dict[str, str]:
        made = synthesize(daxNodes=nodes, egress="nat").of_stack(CACHE, f"{EC2}Subnet")
        return {name: subnet["Properties"]["CidrBlock"] for name, subnet in made.items()}

    few, many = ranges(2), ranges(3)
    assert len(few) < len(many)
    assert few.items() <= many.items()
