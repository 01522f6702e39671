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
  // Otherwise there is nothing to decide: the version is installed already, or the
  // engine will reject it.
  const canBeAdded = !inspection.installed && inspection.signature.refused === undefined
  const mustAsk = canBeAdded && !options.yes && isInteractive(terminal)
  if (mustAsk && !(await confirm(terminal, `Install ${inspection.name} ${inspection.version}?`))) {
    throw new Error('nothing was installed')
  }

  const plugin = await engine.plugin.upload(archive, { 'new-publisher': options['new-publisher'] })

  if (options.json) writeJson(terminal.out, plugin)
  else printUpload(plugin, inspection, terminal.out)
}

/**
 * Prints what the upload has changed. If the version was installed already, the upload has no
 * effect, except that a development version is replaced.
 */
function printUpload(
  { name, active }: Plugin,
  { version, installed }: PluginInspection,
  out: Output,
): void {
  const isUnchanged = installed && !isDevelopmentVersion(version)
  const verb = styled(out, 'green', installed ? 'updated' : 'added')
  out.write(`${isUnchanged ? 'unchanged' : `${verb} ${name} ${version}`}; ${active} is active\n`)
}
