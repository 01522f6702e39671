import { operatorSitePlacement, operatorSourcePlacement } from '@eyrie/contract/management/operator'
import { type Command, parseArguments, parseChoice, UsageError } from '../command/command.ts'
import { writeSuccess } from '../command/terminal.ts'
import { requestOperator } from '../user/operator-request.ts'
import { findByName, listEngines, listSites, listSources, readPlacement } from './placement-requests.ts'

/** `eyrie placement site`: who chooses the engines of a site. */
export const sitePlacementCommand: Command = {
  usage: '<site> [--placement pinned|automatic] [--spread on|off]',
  about:
    'Changes who chooses the engines of a site: a person (pinned), or management (automatic).\nWith --spread on, its sources are distributed over as many engines as possible.',

  async run(args, terminal) {
    const options = { placement: { type: 'string' }, spread: { type: 'string' } } as const
    const { values, positionals } = parseArguments(args, options, ['site'])
    const { placement, spread } = values
    if (placement === undefined && spread === undefined) throw new UsageError('nothing to change')
    const change = {
      ...(placement !== undefined && {
        site_placement: parseChoice('placement', placement, ['pinned', 'automatic']),
      }),
      ...(spread !== undefined && { site_is_spread: parseChoice('spread', spread, ['on', 'off']) === 'on' }),
    }
    const { overview } = await readPlacement(terminal)
    const { id, name } = findByName('site', listSites(overview), positionals[0])
    await requestOperator(operatorSitePlacement.path, terminal, { site_id: id, ...change })
    writeSuccess(terminal.out, 'changed', `the placement of ${name}`)
  },
}

/** `eyrie placement source`: who chooses the engine of a source, and which one it is. */
export const sourcePlacementCommand: Command = {
  usage: '<source> [--placement pinned|automatic|site] [--engine <engine>]',
  about:
    'Changes who chooses the engine of a source; site: as for its site. --engine moves it there with its channels.\nSites, sources and engines are named by their name or id.',

  async run(args, terminal) {
    const options = { placement: { type: 'string' }, engine: { type: 'string' } } as const
    const { values, positionals } = parseArguments(args, options, ['source'])
    if (values.placement === undefined && values.engine === undefined)
      throw new UsageError('nothing to change')
    const placement =
      values.placement === undefined
        ? undefined
        : parseChoice('placement', values.placement, ['pinned', 'automatic', 'site'])
    const { overview } = await readPlacement(terminal)
    const { id, name } = findByName('source', listSources(overview), positionals[0])
    const engine =
      values.engine === undefined ? undefined : findByName('engine', listEngines(overview), values.engine)
    await requestOperator(operatorSourcePlacement.path, terminal, {
      source_id: id,
      ...(placement !== undefined && { source_placement: placement === 'site' ? null : placement }),
      ...(engine && { engine_id: engine.id }),
    })
    if (placement !== undefined) writeSuccess(terminal.out, 'changed', `the placement of ${name}`)
    if (engine) writeSuccess(terminal.out, 'moved', `${name} to ${engine.name}`)
  },
}
