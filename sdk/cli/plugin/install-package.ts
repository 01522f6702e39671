import type { Client } from '@eyrie/client'
import { isDevelopmentVersion, type Plugin, type PluginInspection } from '@eyrie/contract'
import { JSON_OPTION } from '../command/command.ts'
import { confirm, isInteractive } from '../command/confirm.ts'
import { type Output, styled, type Terminal, writeJson } from '../command/terminal.ts'
import { printInspection } from './plugin-grant-report.ts'

/** Options of commands that install a package. */
export const INSTALL_OPTIONS = {
  'new-publisher': { type: 'boolean' },
  yes: { type: 'boolean' },
  ...JSON_OPTION,
} as const

type InstallOptions = { [Name in keyof typeof INSTALL_OPTIONS]?: boolean }

/**
 * Shows what a package asks for, and uploads it after the user has confirmed that on a
 * terminal. `check` can throw an `Error` if the package is not the expected one. Rejects
 * if the user declines.
 */
export async function installPackage(
  engine: Client,
  archive: Uint8Array<ArrayBuffer>,
  options: InstallOptions,
  terminal: Terminal,
  check?: (inspection: PluginInspection) => void,
): Promise<void> {
  const inspection = await engine.plugin.inspect(archive)
  check?.(inspection)
  printInspection(inspection, options.json ? terminal.err : terminal.out)
  if (!options.yes) await confirmInstallation(inspection, terminal)

  const plugin = await engine.plugin.upload(archive, { 'new-publisher': options['new-publisher'] })

  if (options.json) writeJson(terminal.out, plugin)
  else printUpload(plugin, inspection, terminal.out)
}

/**
 * Asks the user to confirm the installation, if there is a terminal. Rejects if the user declines.
 */
async function confirmInstallation(
  { name, version, installed, signature }: PluginInspection,
  terminal: Terminal,
): Promise<void> {
  // There is nothing to decide if the version is installed already, or if the engine will reject
  // it.
  const canBeAdded = !installed && signature.refused === undefined
  if (!canBeAdded || !isInteractive(terminal)) return
  if (!(await confirm(terminal, `Install ${name} ${version}?`))) {
    throw new Error('nothing was installed')
  }
}

/**
 * Prints what the upload has changed, and the active version: `added crowd 1.1.0; 1.0.0 is active`
 */
function printUpload(
  { name, active }: Plugin,
  { version, installed }: PluginInspection,
  out: Output,
): void {
  // An upload changes an installed version only if it is a development version.
  const isUnchanged = installed && !isDevelopmentVersion(version)
  const verb = styled(out, 'green', installed ? 'updated' : 'added')
  const change = isUnchanged ? 'unchanged' : `${verb} ${name} ${version}`
  out.write(`${change}; ${active} is active\n`)
}
