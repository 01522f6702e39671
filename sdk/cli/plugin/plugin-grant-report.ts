import type { PluginGrant, PluginInspection, RequestedCapability } from '@eyrie/contract'
import { describeSignature } from '@eyrie/contract/describe-signature'
import { type Output, styled } from '../command/terminal.ts'
import { printIsolation } from './plugin-report.ts'

/**
 * What the commands for plugins print about grants: what a version asks for, and what was granted.
 */

/** Prints what the installation of a package grants, or what its activation would. */
export function printInspection(inspection: PluginInspection, out: Output): void {
  const {
    name,
    version,
    active,
    installed,
    not_granted: notGranted,
    signature,
    isolation,
  } = inspection
  if (installed) return
  out.write(`${name} ${version} is ${describeSignature(signature, 'with key')}\n`)
  const title =
    active === undefined
      ? `${name} ${version} asks for`
      : `${name} ${version} asks for more than was granted`
  printRequested(title, notGranted, out)
  printIsolation(isolation, out)
}

/** Prints a title and a line for each capability. Prints nothing if there is none. */
export function printRequested(
  title: string,
  requested: readonly RequestedCapability[],
  out: Output,
): void {
  if (requested.length === 0) return
  out.write(`${styled(out, 'yellow', title)}:\n`)
  for (const { element, description } of requested) out.write(`  ${element} ${description}\n`)
}

export function printGrants(grants: readonly PluginGrant[], out: Output): void {
  for (const { version, time, client, capabilities } of grants) {
    const origin = client === undefined ? '' : ` by ${client}`
    printRequested(`granted with ${version} at ${time}${origin}`, capabilities, out)
  }
}
