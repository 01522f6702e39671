import { type ClientOptions, WebSocket } from 'ws'
import type { Egress } from './egress.ts'

/**
 * Opens a WebSocket. An egress that denies the address makes it emit `error`, as every
 * failed connection does.
 */
export const openWebSocket = (
  egress: Egress,
  url: URL,
  options: ClientOptions,
  protocols: readonly string[] = [],
): WebSocket =>
  new WebSocket(url, [...protocols], {
    ...options,
    followRedirects: false,
    agent: egress.agent(url),
  })
