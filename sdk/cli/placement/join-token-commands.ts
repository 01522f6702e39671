import {
  operatorJoinTokenCreation,
  operatorJoinTokenDeletion,
  operatorJoinTokens,
} from '@eyrie/contract/management/operator'
import {
  type Command,
  JSON_OPTION,
  parseArguments,
  parsePositiveInteger,
  UsageError,
} from '../command/command.ts'
import { styled, type Terminal, writeJson, writeSuccess, writeTable } from '../command/terminal.ts'
import { requestOperator } from '../user/operator-request.ts'
import { findByName, listSites, readPlacement } from './placement-requests.ts'

const DAY_MS = 86_400_000
/** A hundred years. */
const MAX_DAYS = 36_525

/** `eyrie join-token create`: creates a token with which engines register themselves. */
export const createJoinTokenCommand: Command = {
  usage: '<name> [--site <site>]... [--days <n>] [--json]',
  about:
    'Creates a token with which engines register themselves, and prints it once. With --site, engines that use it serve only\n' +
    'these sites. With --days, it expires after that many days.',

  async run(args, terminal) {
    const options = {
      ...JSON_OPTION,
      site: { type: 'string', multiple: true },
      days: { type: 'string' },
    } as const
    const { values, positionals } = parseArguments(args, options, ['name'])
    const [name] = positionals
    const { site: siteNames = [], days } = values
    const answer = await requestOperator(operatorJoinTokenCreation.path, terminal, {
      name,
      expires_at: days === undefined ? undefined : toExpiry(days),
      site_ids: await findSiteIds(siteNames, terminal),
    })
    const created = operatorJoinTokenCreation.response.parse(answer)
    if (values.json) return writeJson(terminal.out, created)
    terminal.out.write(`${created.join_token}\n`)
    terminal.err.write('It is not shown again: set it as EYRIE_JOIN_TOKEN of the engines.\n')
  },
}

/** Returns the time at which a token expires after this number of days. Throws `UsageError`. */
function toExpiry(days: string): string {
  const count = parsePositiveInteger('days', days)
  if (count > MAX_DAYS) throw new UsageError(`--days ${days} should be at most ${MAX_DAYS}`)
  return new Date(Date.now() + count * DAY_MS).toISOString()
}

async function findSiteIds(names: readonly string[], terminal: Terminal): Promise<string[]> {
  if (names.length === 0) return []
  const { overview } = await readPlacement(terminal)
  const sites = listSites(overview)
  return names.map(name => findByName('site', sites, name).id)
}

/** `eyrie join-token list`: lists the tokens, without their secrets. */
export const listJoinTokensCommand: Command = {
  usage: '[--json]',
  about: 'Lists the tokens with which engines register themselves.',

  async run(args, terminal) {
    const { values } = parseArguments(args, JSON_OPTION)
    const { out } = terminal
    const answer = await requestOperator(operatorJoinTokens.path, terminal)
    const { tokens } = operatorJoinTokens.response.parse(answer)
    if (values.json) return writeJson(out, tokens)

    const rows = tokens.map(token => [
      token.join_token_id,
      token.name,
      formatDate(token.created_at),
      token.used_at ? formatDate(token.used_at) : '-',
      token.expires_at ? formatDate(token.expires_at) : 'never',
    ])
    const header = ['ID', 'NAME', 'CREATED', 'LAST USED', 'EXPIRES']
    writeTable(out, [header.map(title => styled(out, 'bold', title)), ...rows])
  },
}

/** Formats a time as its date in UTC. */
const formatDate = (time: string) => time.slice(0, 'YYYY-MM-DD'.length)

/** `eyrie join-token delete`: deletes a token. */
export const deleteJoinTokenCommand: Command = {
  usage: '<id>',
  about: 'Deletes a token. The engines that have joined with it remain registered.',

  async run(args, terminal) {
    const { positionals } = parseArguments(args, {}, ['id'])
    const [id] = positionals
    await requestOperator(operatorJoinTokenDeletion.path, terminal, { join_token_id: id })
    writeSuccess(terminal.out, 'deleted', id)
  },
}
