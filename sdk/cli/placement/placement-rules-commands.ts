import { operatorSitePlacement, operatorSourcePlacement } from '@eyrie/contract/management/operator'
import { placement as placementSchema } from '@eyrie/contract/management/placement'
import { type Command, parseArguments, parseChoice, UsageError } from '../command/command.ts'
import { writeSuccess } from '../command/terminal.ts'
import { requestOperator } from '../user/operator-request.ts'
import {
  findByName,
  listEngines,
  listSites,
  listSources,
  readPlacement,
} from './placement-requests.ts'

/**
 * Commands that decide who chooses the engine of a source. A source is either pinned to the engine
 * that a person has chosen, or the management service places it automatically. Unless a source has
 * a setting of its own, the setting of its site applies.
 */

const NOTHING_TO_CHANGE = 'nothing to change'

const SITE_PLACEMENTS = placementSchema.options
/** `site` means that the setting of the site applies. */
const SOURCE_PLACEMENTS = [...SITE_PLACEMENTS, 'site'] as const

const SITE_OPTIONS = { placement: { type: 'string' }, spread: { type: 'string' } } as const
const SOURCE_OPTIONS = { placement: { type: 'string' }, engine: { type: 'string' } } as const

/** `eyrie placement site`: changes the placement of the sources of a site. */
export const sitePlacementCommand: Command = {
  usage: '<site> [--placement pinned|automatic] [--spread on|off]',
  about:
    'Changes who chooses the engines of a site: a person (pinned), or management (automatic).\n' +
    'With --spread on, its sources are distributed over as many engines as possible.',

  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, SITE_OPTIONS, ['site'])
    if (values.placement === undefined && values.spread === undefined) {
      throw new UsageError(NOTHING_TO_CHANGE)
    }
    const placement = parseOptionalChoice('placement', values.placement, SITE_PLACEMENTS)
    const spread = parseOptionalChoice('spread', values.spread, ['on', 'off'])

    const { overview } = await readPlacement(terminal)
    const site = findByName('site', listSites(overview), positionals[0])
    await requestOperator(operatorSitePlacement.path, terminal, {
      site_id: site.id,
      site_placement: placement,
      site_is_spread: spread === undefined ? undefined : spread === 'on',
    })
    writeSuccess(terminal.out, 'changed', `the placement of ${site.name}`)
  },
}

/** `eyrie placement source`: changes the placement of a source, and moves it to another engine. */
export const sourcePlacementCommand: Command = {
  usage: '<source> [--placement pinned|automatic|site] [--engine <engine>]',
  about:
    'Changes who chooses the engine of a source; site: as for its site. --engine moves it there with its channels.\n' +
    'Sites, sources and engines are named by their name or id.',

  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, SOURCE_OPTIONS, ['source'])
    if (values.placement === undefined && values.engine === undefined) {
      throw new UsageError(NOTHING_TO_CHANGE)
    }
    const placement = parseOptionalChoice('placement', values.placement, SOURCE_PLACEMENTS)

    const { overview } = await readPlacement(terminal)
    const source = findByName('source', listSources(overview), positionals[0])
    const engine =
      values.engine === undefined
        ? undefined
        : findByName('engine', listEngines(overview), values.engine)
    await requestOperator(operatorSourcePlacement.path, terminal, {
      source_id: source.id,
      // Null removes the setting of the source. Undefined leaves it unchanged.
      source_placement: placement === 'site' ? null : placement,
      engine_id: engine?.id,
    })
    if (placement) writeSuccess(terminal.out, 'changed', `the placement of ${source.name}`)
    if (engine) writeSuccess(terminal.out, 'moved', `${source.name} to ${engine.name}`)
  },
}

/** Parses an option as `parseChoice` does; undefined if it is absent. */
const parseOptionalChoice = <const Choice extends string>(
  option: string,
  text: string | undefined,
  choices: readonly Choice[],
): Choice | undefined => (text === undefined ? undefined : parseChoice(option, text, choices))
