import {
  type Command,
  JSON_OPTION,
  OVERRIDE_OPTION,
  parseArguments,
  parseOverride,
  parsePositiveInteger,
} from '../command/command.ts'
import { writeJson, writeSuccess, writeTable } from '../command/terminal.ts'
import { connectEngine, ENGINE_OPTIONS } from '../engine/engine-access.ts'
import { confirmSwitch, waitForEnd } from '../engine/shadow-run.ts'
import { printModelReport } from './model-shadow-report.ts'

/**
 * Commands that replace models while their pipelines run. A model can first run in shadow: on the
 * same frames as the active one, but without any effect.
 */

const DEFAULT_SECONDS = '60'

/** `eyrie model use`: switches to another model at once. */
export const useModelCommand: Command = {
  usage: '<name> <model> [--no-revert] [--override capacity] [--json] [--url URL] [--token TOKEN]',
  about:
    'Runs a model for the pipelines that name another one. The engine switches back if it fails more than the present one\n' +
    'within ten minutes, unless --no-revert is set.',

  async run(args, terminal) {
    const options = {
      'no-revert': { type: 'boolean' },
      ...OVERRIDE_OPTION,
      ...JSON_OPTION,
      ...ENGINE_OPTIONS,
    } as const
    const { values, positionals } = parseArguments(args, options, ['name', 'model'])
    const [name, model] = positionals
    const override = parseOverride(values.override)
    const engine = connectEngine(values, terminal)
    const selection = { active: model, revert: values['no-revert'] ? false : undefined }
    const use = await engine.model.use(name, selection, { override })
    if (values.json) writeJson(terminal.out, use)
    else writeSuccess(terminal.out, 'active', `${use.active} for ${name}`)
  },
}

/** `eyrie model upgrade`: runs a model in shadow, and then switches to it. */
export const upgradeModelCommand: Command = {
  usage:
    '<name> <model> [--seconds 60] [--accept] [--override capacity] [--json] [--url URL] [--token TOKEN]',
  about:
    'Runs a model in shadow, next to the one that pipelines use and without any effect, and prints how it differs. --accept then\n' +
    'switches to it unless it did worse; on a terminal, it asks.',

  async run(args, terminal) {
    const options = {
      seconds: { type: 'string', default: DEFAULT_SECONDS },
      accept: { type: 'boolean' },
      ...OVERRIDE_OPTION,
      ...JSON_OPTION,
      ...ENGINE_OPTIONS,
    } as const
    const { values, positionals } = parseArguments(args, options, ['name', 'model'])
    const [name, candidate] = positionals
    const override = parseOverride(values.override)
    const seconds = parsePositiveInteger('seconds', values.seconds)
    const engine = connectEngine(values, terminal)

    const started = await engine.model.startShadow(name, { candidate, seconds })
    if (!values.json) {
      terminal.out.write(`running ${candidate} in shadow of ${name} until ${started.ends}\n`)
    }
    const report = await waitForEnd(started, () => engine.model.getShadow(name))
    if (values.json) writeJson(terminal.out, report)
    else printModelReport(report, terminal.out)

    if (!(await confirmSwitch(report, values, `Switch to ${candidate}?`, terminal))) return
    const { active } = await engine.model.acceptShadow(name, {}, { override })
    if (!values.json) writeSuccess(terminal.out, 'active', `${active} for ${name}`)
  },
}

/** `eyrie model shadow`: prints the report of a run in shadow, or ends the run. */
export const shadowModelCommand: Command = {
  usage: '<name> [--end] [--json] [--url URL] [--token TOKEN]',
  about:
    'Prints how the model that runs in shadow differs from the active one. --end ends the run.',

  async run(args, terminal) {
    const options = { end: { type: 'boolean' }, ...JSON_OPTION, ...ENGINE_OPTIONS } as const
    const { values, positionals } = parseArguments(args, options, ['name'])
    const [name] = positionals
    const { model } = connectEngine(values, terminal)
    const report = values.end ? await model.endShadow(name) : await model.getShadow(name)
    if (values.json) writeJson(terminal.out, report)
    else printModelReport(report, terminal.out)
  },
}

/** `eyrie model switches`: lists the switches between models. */
export const modelSwitchesCommand: Command = {
  usage: '<name> [--json] [--url URL] [--token TOKEN]',
  about:
    'Lists which models have run for the pipelines that name a model, and why the engine has switched back by itself.',

  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, { ...JSON_OPTION, ...ENGINE_OPTIONS }, [
      'name',
    ])
    const [name] = positionals
    const switches = await connectEngine(values, terminal).model.switches(name)
    if (values.json) return writeJson(terminal.out, switches)
    const rows = switches.map(({ time, from, to, client, reason }) => [
      time,
      from,
      to,
      client ?? 'engine',
      reason ?? '',
    ])
    writeTable(terminal.out, [['TIME', 'FROM', 'TO', 'BY', 'REASON'], ...rows])
  },
}
