"""Ports on loopback."""

import socket

import pytest

from local import loopback
from local.loopback import HOST, NEVER_OUTGOING, PortError, free_port, is_taken


def test_free_ports_are_never_the_same_and_never_those_of_outgoing_connections() -> None:
    ports = [free_port() for _ in range(50)]
    assert len(set(ports)) == len(ports)
    assert all(port in NEVER_OUTGOING for port in ports)
    assert not any(map(is_taken, ports))


def test_a_taken_port_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    other = free_port()
    with socket.create_server((HOST, free_port())) as listener:
        taken = listener.getsockname()[1]
        monkeypatch.setattr(loopback, "_CANDIDATES", iter([taken, other]))
        assert free_port() == other


def test_when_none_is_free_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loopback, "_CANDIDATES", iter(()))
    with pytest.raises(PortError, match="no port from 20000 to 31999 is free"):
        free_port()
