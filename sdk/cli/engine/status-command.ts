import { type Client, createClient, readHealth } from '@eyrie/client'
import type { Health } from '@eyrie/contract'
import { type Command, JSON_OPTION, parseArguments } from '../command/command.ts'
import { type Output, styled, type Terminal, writeJson, writeTable } from '../command/terminal.ts'
import {
  ENGINE_OPTIONS,
  getEngineAccess,
  getServiceUrl,
  getVariable,
  type ServiceName,
} from './engine-access.ts'
import { formatHealthCells, readPipelineHealth } from './pipeline-health.ts'

const BYTES_PER_MIB = 1024 * 1024

/** `eyrie status`: prints a summary of the appliance, its problems and its pipelines. */
export const statusCommand: Command = {
  usage: '[--json] [--url URL] [--token TOKEN]',
  about:
    'Shows the state of the appliance: alarms, services and pipelines. With --url, shows only the engine at that address. If an\n' +
    'environment variable has the address of the engine, other services are asked only if variables have their addresses too.',

  async run(args, terminal) {
    const { values } = parseArguments(args, { ...JSON_OPTION, ...ENGINE_OPTIONS })
    const engine = getEngineAccess(values, terminal)
    const others = values.url === undefined ? findOtherServices(terminal) : NO_SERVICES
    const health: ApplianceHealth = {
      services: await readServiceHealth({ engine: engine.url, ...others.urls }),
      not_asked: others.withoutAddress,
    }

    try {
      const status: Status = { ...health, ...(await readEngineStatus(createClient(engine))) }
      if (values.json) writeJson(terminal.out, status)
      else printStatus(status, terminal.out)
    } catch (error) {
      // The alarms of the other services may show why the engine does not respond.
      if (values.json) writeJson(terminal.out, health)
      else printProblems(health, terminal.out)
      throw error
    }
  },
}

/** The services other than the engine. */
interface OtherServices {
  /** URLs by the name of the service. */
  urls: Record<string, string>
  /** Names of services whose addresses are unknown. */
  withoutAddress: string[]
}

const OTHER_SERVICES: readonly ServiceName[] = ['media', 'management', 'scheduler']
const NO_SERVICES: OtherServices = { urls: {}, withoutAddress: [] }

/**
 * Finds the addresses of the other services. If environment variables have the address of
 * the engine, the default addresses of the others are not used: services of another
 * appliance may listen there.
 */
function findOtherServices(terminal: Terminal): OtherServices {
  const { environment = {} } = terminal
  const hasAddress = (service: string) =>
    Boolean(environment[getVariable(service, 'URL')] || environment[getVariable(service, 'PORT')])

  const urls: Record<string, string> = {}
  const withoutAddress: string[] = []
  for (const service of OTHER_SERVICES) {
    if (hasAddress(service) || !hasAddress('engine')) {
      urls[service] = getServiceUrl(service, terminal)
    } else {
      withoutAddress.push(service)
    }
  }
  return { urls, withoutAddress }
}

/** The health of the services. */
interface ApplianceHealth {
  /** Health by the name of the service. */
  services: Record<string, Health>
  /** Names of services whose addresses are unknown. */
  not_asked: string[]
}

/** Everything that the command prints. The option `--json` prints this object. */
type Status = ApplianceHealth & Awaited<ReturnType<typeof readEngineStatus>>

/**
 * Reads the state of the engine and its pipelines. Throws `EyrieError` (`unavailable`) if the
 * engine is unreachable.
 */
async function readEngineStatus(client: Client) {
  const [about, activation, system, pipelines] = await Promise.all([
    client.about(),
    client.getActivation(),
    client.systemStatistics(),
    client.pipeline.list(),
  ])

  const pipelineHealth = await readPipelineHealth(client, pipelines)
  const pipelinesWithStatistics = pipelines.flatMap(pipeline => {
    // A pipeline without statistics was deleted in the meantime.
    const statistics = pipelineHealth.get(pipeline.id)
    return statistics ? { ...pipeline, statistics } : []
  })
  return { about, activation, system, pipelines: pipelinesWithStatistics }
}

/** Reads the health of services by name. */
async function readServiceHealth(urls: Record<string, string>): Promise<Record<string, Health>> {
  const entries = Object.entries(urls).map(
    async ([name, url]) => [name, await readHealth(url)] as const,
  )
  return Object.fromEntries(await Promise.all(entries))
}

function printStatus(status: Status, out: Output): void {
  out.write(`${formatSummary(status, out)}\n`)
  printProblems(status, out)
  out.write('\n')
  if (status.pipelines.length === 0) out.write('There are no pipelines.\n')
  else printPipelines(status.pipelines, out)
}

/** Formats the engine's version, license and load in one line. */
function formatSummary({ about, activation, system }: Status, out: Output): string {
  const parts = [
    `${about.name} ${about.version} on ${about.hostname}`,
    activation.activated
      ? `activated for ${activation.license?.customer}`
      : styled(out, 'yellow', 'not activated'),
    `up ${formatDuration(system.uptime)}`,
    `CPU ${Math.round(system.cpu)} %`,
    `memory ${Math.round(system.mem_physical / BYTES_PER_MIB)} MiB`,
  ]
  return parts.join(', ')
}

/** Prints which services are unhealthy, all alarms, and which services were not asked. */
function printProblems(health: ApplianceHealth, out: Output): void {
  for (const [name, { ok, reason, alarms }] of Object.entries(health.services)) {
    if (!ok) {
      out.write(`${styled(out, 'red', 'unhealthy')}  ${name}: ${reason ?? 'unknown reason'}\n`)
    }
    for (const alarm of alarms) {
      out.write(`${styled(out, ['red', 'bold'], 'alarm')}  ${name}: ${alarm}\n`)
    }
  }
  const notAsked = health.not_asked
  if (notAsked.length > 0) {
    const variables = notAsked.map(service => getVariable(service, 'PORT'))
    out.write(`not asked: ${notAsked.join(', ')} (set ${variables.join(', ')})\n`)
  }
}

function printPipelines(pipelines: Status['pipelines'], out: Output): void {
  const header = ['PIPELINE', 'STATUS', 'FPS', 'LATENCY', 'SOURCES', 'SINKS', 'ELEMENTS', 'REASON']
  const rows = pipelines.map(({ id, sources, sinks, elements, statistics }) => {
    const [status, fps, latency, reason] = formatHealthCells(out, statistics)
    const elementNames = elements.map(({ name }) => name).join(' > ')
    return [
      String(id),
      status,
      fps,
      latency,
      formatIds(sources),
      formatIds(sinks),
      elementNames,
      reason,
    ]
  })
  writeTable(out, [header, ...rows])
}

const formatIds = (ids: number[]) => ids.join(',') || '-'

/** Formats a duration in its two largest units: `3 d 4 h`, `12 min 5 s`. */
function formatDuration(seconds: number): string {
  const amounts = [
    { amount: Math.floor(seconds / 86_400), unit: 'd' },
    { amount: Math.floor(seconds / 3600) % 24, unit: 'h' },
    { amount: Math.floor(seconds / 60) % 60, unit: 'min' },
    { amount: Math.floor(seconds) % 60, unit: 's' },
  ]
  const largest = amounts.findIndex(({ amount }) => amount > 0)
  if (largest === -1) return '0 s'
  const printed = amounts.slice(largest, largest + 2)
  return printed.map(({ amount, unit }) => `${amount} ${unit}`).join(' ')
}
