"""The DAX cluster, if any: hits, errors, load."""

from collections.abc import Iterator

from aws_cdk import aws_cloudwatch as cloudwatch

from infra.cache.cluster import cluster_name
from infra.dashboard.metrics import MINUTE, of_cluster
from infra.dashboard.panels import Row, graph
from infra.dashboard.watched import Watched


def cache(watched: Watched) -> Iterator[Row]:
    if not watched.config.dax_nodes:
        return
    cluster = cluster_name(watched.config)
    yield [
        graph(watched, "Cache: hit rate", [_hit_rate(cluster)], unit="%"),
        graph(
            watched,
            "Cache: requests",
            [of_cluster(cluster, name, "Sum") for name in ("ItemCacheHits", "ItemCacheMisses")],
        ),
        graph(
            watched,
            "Cache: errors, evictions",
            [
                of_cluster(cluster, name, "Sum")
                for name in ("FaultRequestCount", "FailedRequestCount", "EvictedSize")
            ],
        ),
        graph(
            watched,
            "Cache: CPU and memory",
            [of_cluster(cluster, name, "Maximum") for name in ("CPUUtilization", "CacheMemoryUtilization")],
            unit="%",
        ),
    ]


def _hit_rate(cluster: str) -> cloudwatch.MathExpression:
    # DAX emits nothing for zero.
    return cloudwatch.MathExpression(
        expression="100 * FILL(hits, 0) / (FILL(hits, 0) + FILL(misses, 0))",
        using_metrics={
            "hits": of_cluster(cluster, "ItemCacheHits", "Sum"),
            "misses": of_cluster(cluster, "ItemCacheMisses", "Sum"),
        },
        label="hit rate",
        period=MINUTE,
    )
