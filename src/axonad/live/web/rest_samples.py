"""REST: samples by HTTP."""

from __future__ import annotations

import time

from fastapi import APIRouter, HTTPException, Request

from axonad.live.web.answers import Taken
from axonad.live.web.rest import BEARER, PREFIX, PROBLEMS
from axonad.live.web.site import Here

router = APIRouter(prefix=PREFIX, tags=["samples"], responses=PROBLEMS, dependencies=[BEARER])

TEXT = {"schema": {"type": "string"}}
BODY = {
    "requestBody": {
        "required": True,
        "description": "One sample, a list of samples or a batch as JSON; or a sample per line.",
        "content": {"application/json": {"schema": {}}, "application/x-ndjson": TEXT},
    }
}
TYPES = ("application/json", "application/x-ndjson", "application/ndjson", "application/jsonl")


@router.post("/samples", summary="Send samples", openapi_extra=BODY)
async def post_samples(site: Here, request: Request) -> Taken:
    """Take samples; the answer comes after they are stored for good."""
    arrival = time.time()
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind not in TYPES:  # also keeps out the forms of other sites
        raise HTTPException(422, f"the content type must be one of {', '.join(TYPES)}")
    if site.deliver is None:
        raise HTTPException(404, "this server takes no samples by HTTP")
    receipt = await site.deliver(site.engine, await request.body(), kind, arrival)
    if receipt.error:
        raise HTTPException(503, receipt.error, headers={"retry-after": "1"})
    return Taken(accepted=receipt.accepted, refused=dict(receipt.refused))
