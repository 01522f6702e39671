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
    if (plan.moves.length === 0) return void terminal.out.write('there is nothing to move\n')
    await applyPlan(terminal, plan)
    const nameOf = nameEngines(plan)
    for (const { source_name, from_engine_id, to_engine_id } of plan.moves)
      writeSuccess(
        terminal.out,
        'moved',
        `${source_name} from ${nameOf(from_engine_id)} to ${nameOf(to_engine_id)}`,
      )
  },
}

const STATUSES: Record<number, [name: string, style: Style]> = {
  [ENGINE_STATUS.unknown]: ['unknown', 'gray'],
  [ENGINE_STATUS.online]: ['online', 'green'],
  [ENGINE_STATUS.offline]: ['offline', 'red'],
  [ENGINE_STATUS.error]: ['error', 'red'],
}

function printEngines({ engines, sources }: PlacementOverview, out: Output): void {
  const rows = engines.map(({ engine_id, engine_name, engine_status, engine_reason, cores, used }) => {
    const [status, style] = STATUSES[engine_status]!
    const count = sources.filter(source => source.engine_id === engine_id).length
    return [
      engine_name,
      styled(out, style, status),
      cores === null ? '-' : formatCores(cores),
      formatCores(used),
      cores === null ? '-' : formatCores(Math.max(0, cores - used)),
      String(count),
      engine_reason,
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
    source.cores === null ? '-' : formatCores(source.cores),
    source.channels.map(({ channel_name }) => channel_name).join(', ') || '-',
  ])
  out.write('\n')
  writeTitledTable(out, ['SOURCE', 'SITE', 'ENGINE', 'PLACEMENT', 'CORES', 'CHANNELS'], rows)
}

function printPlan(plan: OfferedPlacementPlan, out: Output): void {
  for (const { source_name, reason } of plan.unplaced)
    out.write(`\n${styled(out, 'red', `${source_name} has no engine: ${reason}`)}\n`)
  if (plan.moves.length === 0) return void out.write('\nThe load is distributed well.\n')

  const nameOf = nameEngines(plan)
  const since = plan.offer
    ? `, which is offered since ${plan.offer.offered_at.slice(0, 16).replace('T', ' ')} UTC`
    : ''
  out.write(`\nThe plan${since}; eyrie placement apply makes these moves:\n`)
  const rows = plan.moves.map(({ source_name, from_engine_id, to_engine_id, cores, reason }) => [
    source_name,
    nameOf(from_engine_id),
    nameOf(to_engine_id),
    formatCores(cores),
    reason,
  ])
  writeTitledTable(out, ['SOURCE', 'FROM', 'TO', 'CORES', 'REASON'], rows)
}

function nameEngines({ engines }: OfferedPlacementPlan): (engine_id: string) => string {
  const names = new Map(engines.map(({ engine_id, engine_name }) => [engine_id, engine_name]))
  return engine_id => names.get(engine_id) ?? engine_id
}

const formatCores = (cores: number) => cores.toFixed(2)

const writeTitledTable = (out: Output, titles: readonly string[], rows: readonly string[][]) =>
  writeTable(out, [titles.map(title => styled(out, 'bold', title)), ...rows])
