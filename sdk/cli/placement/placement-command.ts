import { ENGINE_STATUS } from '@eyrie/contract/management/managed-engine'
import type { OfferedPlacementPlan, PlacementOverview } from '@eyrie/contract/management/placement'
import { type Command, JSON_OPTION, parseArguments } from '../command/command.ts'
import { type Output, type Style, styled, writeJson, writeSuccess, writeTable } from '../command/terminal.ts'
import { applyPlan, readPlacement } from './placement-requests.ts'

/** `eyrie placement`: shows the engines, what runs where, and a better distribution. */
export const placementCommand: Command = {
  usage: '[--json]',
  about:
    'Shows the engines with their loads, what runs where, and the moves that would distribute the load better.\nRun it on the machine of the appliance.',

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

/** `eyrie placement apply`: makes the moves of the plan. */
export const applyPlacementCommand: Command = {
  usage: '',
  about: 'Moves sources to other engines as planned. Each move interrupts its channels for a few seconds.',

  async run(args, terminal) {
    parseArguments(args, {})
    const { plan } = await readPlacement(terminal)
    if (plan.moves.length === 0) {
      terminal.out.write('there is nothing to move\n')
      return
    }
    await applyPlan(terminal, plan)
    const getEngineName = createEngineNames(plan)
    for (const {
      source_name: sourceName,
      from_engine_id: fromEngineId,
      to_engine_id: toEngineId,
    } of plan.moves) {
      const from = getEngineName(fromEngineId)
      const to = getEngineName(toEngineId)
      writeSuccess(terminal.out, 'moved', `${sourceName} from ${from} to ${to}`)
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
  const rows = engines.map(
    ({
      engine_id: engineId,
      engine_name: engineName,
      engine_status: engineStatus,
      engine_reason: engineReason,
      cores,
      used,
    }) => {
      const status = STATUSES[engineStatus]!
      const sourceCount = sources.filter(source => source.engine_id === engineId).length
      return [
        engineName,
        styled(out, status.style, status.name),
        cores === null ? '-' : formatCores(cores),
        formatCores(used),
        cores === null ? '-' : formatCores(Math.max(0, cores - used)),
        String(sourceCount),
        engineReason,
      ]
    },
  )
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
    source.cores === null ? '-' : formatCores(source.cores),
    source.channels.map(({ channel_name }) => channel_name).join(', ') || '-',
  ])
  out.write('\n')
  writeTitledTable(out, ['SOURCE', 'SITE', 'ENGINE', 'PLACEMENT', 'CORES', 'CHANNELS'], rows)
}

function printPlan(plan: OfferedPlacementPlan, out: Output): void {
  for (const { source_name: sourceName, reason } of plan.unplaced)
    out.write(`\n${styled(out, 'red', `${sourceName} has no engine: ${reason}`)}\n`)
  if (plan.moves.length === 0) {
    out.write('\nThe load is distributed well.\n')
    return
  }

  const offer = plan.offer ? `, which is offered since ${formatTime(plan.offer.offered_at)}` : ''
  out.write(`\nThe plan${offer}; eyrie placement apply makes these moves:\n`)
  const getEngineName = createEngineNames(plan)
  const rows = plan.moves.map(
    ({ source_name: sourceName, from_engine_id: fromEngineId, to_engine_id: toEngineId, cores, reason }) => [
      sourceName,
      getEngineName(fromEngineId),
      getEngineName(toEngineId),
      formatCores(cores),
      reason,
    ],
  )
  writeTitledTable(out, ['SOURCE', 'FROM', 'TO', 'CORES', 'REASON'], rows)
}

/** Formats a time in UTC: `2026-03-04 02:41 UTC`. */
const formatTime = (time: string) => `${time.slice(0, 'YYYY-MM-DDThh:mm'.length).replace('T', ' ')} UTC`

/** Returns a function that finds the name of an engine by its id. */
function createEngineNames({ engines }: OfferedPlacementPlan): (engineId: string) => string {
  const names = new Map(engines.map(({ engine_id, engine_name }) => [engine_id, engine_name]))
  return engineId => names.get(engineId) ?? engineId
}

const formatCores = (cores: number) => cores.toFixed(2)

const writeTitledTable = (out: Output, titles: readonly string[], rows: readonly string[][]) =>
  writeTable(out, [titles.map(title => styled(out, 'bold', title)), ...rows])
