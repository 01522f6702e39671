import type { Isolation, Plugin } from '@eyrie/contract'
import { type Output, styled } from '../command/terminal.ts'

/** What the commands for plugins print about their boundaries. */

export function printQuarantines(plugins: readonly Plugin[], out: Output): void {
  for (const { name, versions } of plugins) {
    for (const { version, quarantined = [] } of versions) {
      for (const { channel, reason, time } of quarantined) {
        out.write(
          `${styled(out, 'red', 'in quarantine:')} ${name} ${version} on channel ${channel} since ${time}: ${reason}\n`,
        )
      }
    }
  }
}

/** Prints which versions do not start because of their signature. */
export function printRefusals(plugins: readonly Plugin[], out: Output): void {
  for (const { name, versions } of plugins) {
    for (const { version, signature } of versions) {
      if (signature?.refused !== undefined) {
        out.write(
          `${styled(out, 'red', 'does not start:')} ${name} ${version}: ${signature.refused}\n`,
        )
      }
    }
  }
}

export function printIsolation({ level, missing }: Isolation, out: Output): void {
  out.write(`isolation of uploaded plugins: ${level}\n`)
  for (const remedy of missing) out.write(`  ${remedy}\n`)
}
