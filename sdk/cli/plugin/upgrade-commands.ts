import {
  type Command,
  JSON_OPTION,
  parseArguments,
  parsePositiveInteger,
} from '../command/command.ts'
import { writeJson, writeSuccess, writeTable } from '../command/terminal.ts'
import { connectEngine, connectToChangePlugins, ENGINE_OPTIONS } from '../engine/engine-access.ts'
import { confirmSwitch, waitForEnd } from '../engine/shadow-run.ts'
import { grantRequested } from './plugin-commands.ts'
import { printShadowReport } from './upgrade-report.ts'

/**
 * Commands that upgrade plugins while their pipelines run. A version can first run in shadow: on
 * the same frames as the active one, but without any effect.
 */

const DEFAULT_SECONDS = '60'

/** `eyrie plugin upgrade`: runs a version in shadow, and then activates it. */
export const upgradePluginCommand: Command = {
  usage:
    '<name> <version> [--seconds 60] [--accept] [--grant] [--json] [--url URL] [--token TOKEN]',
  about:
    'Runs a version of a plugin in shadow, next to the active one and without any effect, and prints how it differs. --accept\n' +
    'then activates it unless it did worse; on a terminal, it asks.',

  async run(args, terminal) {
    const options = {
      seconds: { type: 'string', default: DEFAULT_SECONDS },
      accept: { type: 'boolean' },
      grant: { type: 'boolean' },
      ...JSON_OPTION,
      ...ENGINE_OPTIONS,
    } as const
    const { values, positionals } = parseArguments(args, options, ['name', 'version'])
    const [name, version] = positionals
    const seconds = parsePositiveInteger('seconds', values.seconds)
    const engine = connectToChangePlugins(values, terminal)
    const isGranted = await grantRequested(
      await engine.plugin.get(name),
      version,
      values.grant,
      terminal,
    )

    const grant = isGranted ? true : undefined
    const started = await engine.plugin.startShadow(name, { version, seconds, grant })
    if (!values.json) {
      terminal.out.write(`running ${name} ${version} in shadow until ${started.ends}\n`)
    }
    const report = await waitForEnd(started, () => engine.plugin.getShadow(name))
    if (values.json) writeJson(terminal.out, report)
    else printShadowReport(report, terminal.out)

    if (!(await confirmSwitch(report, values, `Switch to ${name} ${version}?`, terminal))) return
    const { active } = await engine.plugin.acceptShadow(name, {})
    if (!values.json) writeSuccess(terminal.out, 'active', `${name} ${active}`)
  },
}

/** `eyrie plugin shadow`: prints the report of a run in shadow, or ends the run. */
export const shadowPluginCommand: Command = {
  usage: '<name> [--end] [--json] [--url URL] [--token TOKEN]',
  about:
    'Prints how the version of a plugin that runs in shadow differs from the active one. --end ends the run.',

  async run(args, terminal) {
    const options = { end: { type: 'boolean' }, ...JSON_OPTION, ...ENGINE_OPTIONS } as const
    const { values, positionals } = parseArguments(args, options, ['name'])
    const [name] = positionals
    const report = values.end
      ? await connectToChangePlugins(values, terminal).plugin.endShadow(name)
      : await connectEngine(values, terminal).plugin.getShadow(name)
    if (values.json) writeJson(terminal.out, report)
    else printShadowReport(report, terminal.out)
  },
}

/** `eyrie plugin switches`: lists the switches between versions. */
export const pluginSwitchesCommand: Command = {
  usage: '<name> [--json] [--url URL] [--token TOKEN]',
  about:
    'Lists the switches of the active version of a plugin, and why the engine has switched back by itself.',

  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, { ...JSON_OPTION, ...ENGINE_OPTIONS }, [
      'name',
    ])
    const [name] = positionals
    const switches = await connectEngine(values, terminal).plugin.switches(name)
    if (values.json) return writeJson(terminal.out, switches)
    const rows = switches.map(({ time, from, to, client, reason, pipelines }) => [
      time,
      from,
      to,
      client ?? 'engine',
      pipelines.join(', '),
      reason ?? '',
    ])
    writeTable(terminal.out, [['TIME', 'FROM', 'TO', 'BY', 'EDITED PIPELINES', 'REASON'], ...rows])
  },
}
