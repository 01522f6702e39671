import type { ClientOptions } from '@eyrie/client'
import { type Egress, fetchFrom } from '@eyrie/kit'

/** Maximum size of a response of an engine. */
const MAX_RESPONSE_BYTES = 64 << 20

/** How the client of an engine connects to it: only to addresses that the egress allows. */
export const createEngineTransport = (egress: Egress): NonNullable<ClientOptions['transport']> => ({
  fetch: (url, request) => fetchFrom(egress, url, { ...request, maxBytes: MAX_RESPONSE_BYTES }),
  agent: url => egress.agent(new URL(url)),
})
