import type { Capabilities, Isolation, Plugin } from '@eyrie/contract'
import { type Output, styled } from '../command/terminal.ts'

/** What the commands for plugins print about their boundaries. */

export function printQuarantines(plugins: readonly Plugin[], out: Output): void {
  for (const { name, versions } of plugins)
    for (const { version, quarantined = [] } of versions)
      for (const { channel, reason, time } of quarantined)
        out.write(
          `${styled(out, 'red', 'in quarantine:')} ${name} ${version} on channel ${channel} since ${time}: ${reason}\n`,
        )
}

export function printIsolation({ level, missing }: Isolation, out: Output): void {
  out.write(`isolation of uploaded plugins: ${level}\n`)
  for (const remedy of missing) out.write(`  ${remedy}\n`)
}

export function describeCapabilities(declared: Capabilities | undefined): string {
  if (!declared) return 'declares no capabilities; may report any events and counters'
  const { frames, events, counters, network, storage_bytes, budget_ms } = declared
  const parts = [
    frames ? `reads frames (${frames.format}, up to ${frames.width}×${frames.height})` : 'reads no frames',
    `events: ${Object.keys(events).join(', ') || 'none'}`,
    `counters: ${counters.join(', ') || 'none'}`,
    `network: ${network.join(', ') || 'none'}`,
    ...(storage_bytes === undefined ? [] : [`stores up to ${storage_bytes} bytes`]),
    ...(budget_ms === undefined ? [] : [`at most ${budget_ms} ms of CPU time per frame`]),
  ]
  return parts.join('; ')
}
