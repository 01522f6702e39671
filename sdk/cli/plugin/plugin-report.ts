import type { Isolation, Plugin } from '@eyrie/contract'
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
