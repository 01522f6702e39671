import { createHash, randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'

/**
 * Returns the id of this management service among those on the same database. A service that is
 * restarted at the same address has the same id, so that it goes on with its own leases at once: no
 * other process can listen there. `port` 0: a new id.
 */
export function getInstanceId(host: string, port: number): string {
  if (port === 0) return randomUUID()
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    // Containers of one machine have the same boot id, and may use the same port.
    const network = readlinkSync('/proc/self/ns/net')
    return formatUuid(
      createHash('sha256')
        .update(JSON.stringify([boot, network, host, port]))
        .digest('hex'),
    )
  } catch {
    return randomUUID()
  }
}

/** Formats a digest as a UUID of version 8 (RFC 9562), whose content is up to its creator. */
const formatUuid = (hex: string) =>
  [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
