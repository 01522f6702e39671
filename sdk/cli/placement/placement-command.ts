import { ENGINE_STATUS } from '@eyrie/contract/management/managed-engine'
import type { OfferedPlacementPlan, PlacementOverview } from '@eyrie/contract/management/placement'
import { type Command, JSON_OPTION, parseArguments } from '../command/command.ts'
import {
  type Output,
  type Style,
  styled,
  writeJson,
  writeSuccess,
  writeTable,
} from '../command/terminal.ts'
import { applyPlan, readPlacement } from './placement-requests.ts'

/** `eyrie placement`: shows the engines, what runs where, and a better distribution. */
export const placementCommand: Command = {
  usage: '[--json]',
  about:
    'Shows the engines with their loads, what runs where, and the moves that would distribute the load better.\n' +
    'Run it on the machine of the appliance.',

  async run(args, terminal) {
    const { values } = parseArguments(args, JSON_OPTION)
    const placement = await readPlacement(terminal)
    if (values.json) return writeJson(terminal.out, placement)

    const { overview, plan } = placement
    printEngines(overview, terminal.out)
    printSources(overview, terminal.out)
    printPlan(plan, terminal.out)
  },
}

/** `eyrie placement apply`: moves sources as the current plan proposes. */
export const applyPlacementCommand: Command = {
  usage: '',
  about:
    'Moves sources to other engines as planned. Each move interrupts its channels for a few seconds.',

  async run(args, terminal) {
    parseArguments(args, {})
    const { plan } = await readPlacement(terminal)
    if (plan.moves.length === 0) {
      terminal.out.write('there is nothing to move\n')
      return
    }
    await applyPlan(terminal, plan)
    const getEngineName = createNameLookup(plan)
    for (const move of plan.moves) {
      const from = getEngineName(move.from_engine_id)
      const to = getEngineName(move.to_engine_id)
      writeSuccess(terminal.out, 'moved', `${move.source_name} from ${from} to ${to}`)
    }
  },
}

const STATUSES: Record<number, { name: string; style: Style }> = {
  [ENGINE_STATUS.unknown]: { name: 'unknown', style: 'gray' },
  [ENGINE_STATUS.online]: { name: 'online', style: 'green' },
  [ENGINE_STATUS.offline]: { name: 'offline', style: 'red' },
  [ENGINE_STATUS.error]: { name: 'error', style: 'red' },
}

function printEngines({ engines, sources }: PlacementOverview, out: Output): void {
  const rows = engines.map(engine => {
    const { cores, used } = engine
    const { name, style } = STATUSES[engine.engine_status]!
    const free = cores === null ? null : Math.max(0, cores - used)
    const sourceCount = sources.filter(source => source.engine_id === engine.engine_id).length
    return [
      engine.engine_name,
      styled(out, style, name),
      formatCores(cores),
      formatCores(used),
      formatCores(free),
      String(sourceCount),
      engine.engine_reason,
    ]
  })
  writeTitledTable(out, ['ENGINE', 'STATUS', 'CORES', 'USED', 'FREE', 'SOURCES', 'REASON'], rows)
}

function printSources({ engines, sites, sources }: PlacementOverview, out: Output): void {
  if (sources.length === 0) return
  const engineNames = new Map(engines.map(({ engine_id, engine_name }) => [engine_id, engine_name]))
  const siteNames = new Map(sites.map(({ site_id, site_name }) => [site_id, site_name]))
  const rows = sources.map(source => [
    source.source_name,
    siteNames.get(source.site_id) ?? '',
    engineNames.get(source.engine_id) ?? '',
    source.placement,
    formatCores(source.cores),
    source.channels.map(({ channel_name }) => channel_name).join(', ') || '-',
  ])
  out.write('\n')
  writeTitledTable(out, ['SOURCE', 'SITE', 'ENGINE', 'PLACEMENT', 'CORES', 'CHANNELS'], rows)
}

function printPlan(plan: OfferedPlacementPlan, out: Output): void {
  for (const { source_name: sourceName, reason } of plan.unplaced) {
    out.write(`\n${styled(out, 'red', `${sourceName} has no engine: ${reason}`)}\n`)
  }
  if (plan.moves.length === 0) {
    out.write('\nThe load is distributed well.\n')
    return
  }

  const offer = plan.offer ? `, which is offered since ${formatTime(plan.offer.offered_at)}` : ''
  out.write(`\nThe plan${offer}; eyrie placement apply makes these moves:\n`)

  const getEngineName = createNameLookup(plan)
  const rows = plan.moves.map(move => [
    move.source_name,
    getEngineName(move.from_engine_id),
    getEngineName(move.to_engine_id),
    formatCores(move.cores),
    move.reason,
  ])
  writeTitledTable(out, ['SOURCE', 'FROM', 'TO', 'CORES', 'REASON'], rows)
}

/** Formats a time in UTC: `2026-03-04 02:41 UTC`. */
const formatTime = (time: string) =>
  `${time.slice(0, 'YYYY-MM-DDThh:mm'.length).replace('T', ' ')} UTC`

/** Returns a function that finds the name of an engine by its id. */
function createNameLookup({ engines }: OfferedPlacementPlan): (engineId: string) => string {
  const names = new Map(engines.map(({ engine_id, engine_name }) => [engine_id, engine_name]))
  return engineId => names.get(engineId) ?? engineId
}

/** Formats a number of CPU cores; null if it is unknown. */
const formatCores = (cores: number | null) => (cores === null ? '-' : cores.toFixed(2))

const writeTitledTable = (out: Output, titles: readonly string[], rows: readonly string[][]) =>
  writeTable(out, [titles.map(title => styled(out, 'bold', title)), ...rows])
