"""`context/assemble`: from its params to the use case, and back to its answer."""

import asyncio

import msgspec

from ullage.agent import assembly_protocol as protocol
from ullage.agent.sessions import OpenSession, Sessions


async def assemble_request(sessions: Sessions, params: protocol.Assemble) -> protocol.Assembled:
    """Build a whole request; the session stays as it is."""
    async with sessions.use(params.session) as session:
        return await asyncio.to_thread(_assemble, session, params)


def _assemble(session: OpenSession, params: protocol.Assemble) -> protocol.Assembled:
    # Who assembles nothing does not pay for what it needs.
    from ullage.app.assembly.assemble import AssemblyWish, assemble
    from ullage.app.assembly.source import runtime_source

    wish = msgspec.convert(params, AssemblyWish, from_attributes=True)
    done = assemble(wish, runtime_source(session.runtime, session.progress, params.messages))
    return msgspec.convert(done, protocol.Assembled, from_attributes=True)
