import type { ClientOptions } from '@eyrie/client'
import { type Egress, fetchFrom } from '@eyrie/kit'

/** How the client of an engine connects to it: only to addresses that the egress allows. */
export const createEngineTransport = (egress: Egress): NonNullable<ClientOptions['transport']> => ({
  fetch: (url, request) => fetchFrom(egress, url, request),
  agent: url => egress.agent(new URL(url)),
})
