import { EyrieError } from '@eyrie/contract'
import { ENGINE_STATUS } from '@eyrie/contract/management/index'
import { isTlsError } from '@eyrie/kit'

/** Why an engine is disconnected. */
export interface EngineFailure {
  /** A value of `ENGINE_STATUS`. */
  status: number
  reason: string
}

/** Translates an error of a connection into the status that the engine gets. */
export function toEngineFailure(error: unknown): EngineFailure {
  if (!(error instanceof EyrieError)) {
    return {
      status: ENGINE_STATUS.error,
      reason: 'internal error: see the log of the management service',
    }
  }
  // An unreachable engine may recover without intervention. A rejected certificate
  // requires an operator.
  const isOffline = error.code === 'unavailable' && !isTlsError(error)
  return { status: isOffline ? ENGINE_STATUS.offline : ENGINE_STATUS.error, reason: error.message }
}

/** Error codes of a host that is switched off, of a closed port, and of a network that is down. */
const UNREACHABLE_CODES = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Returns whether no connection to the engine was possible, or no answer came. */
export function isUnreachable(error: unknown): boolean {
  for (let current: unknown = error; current instanceof Error; current = current.cause) {
    const { name, code = '' } = current as NodeJS.ErrnoException
    if (name === 'TimeoutError' || UNREACHABLE_CODES.has(code)) return true
  }
  return false
}
