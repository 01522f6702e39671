import {
  operatorJoinTokenCreation,
  operatorJoinTokenDeletion,
  operatorJoinTokens,
} from '@eyrie/contract/management/operator'
import { type Command, JSON_OPTION, parseArguments, parsePositiveInteger } from '../command/command.ts'
import { styled, writeJson, writeSuccess, writeTable } from '../command/terminal.ts'
import { requestOperator } from '../user/operator-request.ts'
import { findByName, listSites, readPlacement } from './placement-requests.ts'

const DAY_MS = 86_400_000

/** `eyrie join-token create`: creates a token with which engines register themselves. */
export const createJoinTokenCommand: Command = {
  usage: '<name> [--site <site>]... [--days <n>] [--json]',
  about:
    'Creates a token with which engines register themselves, and prints it once.\n--site: its engines serve this site only; --days: it expires.',

  async run(args, terminal) {
    const options = {
      ...JSON_OPTION,
      site: { type: 'string', multiple: true },
      days: { type: 'string' },
    } as const
    const { values, positionals } = parseArguments(args, options, ['name'])
    const days = values.days === undefined ? undefined : parsePositiveInteger('days', values.days)
    const names = values.site ?? []
    const sites = names.length > 0 ? listSites((await readPlacement(terminal)).overview) : []
    const answer = await requestOperator(operatorJoinTokenCreation.path, terminal, {
      name: positionals[0],
      site_ids: names.map(name => findByName('site', sites, name).id),
      ...(days !== undefined && { expires_at: new Date(Date.now() + days * DAY_MS).toISOString() }),
    })
    const created = operatorJoinTokenCreation.response.parse(answer)
    if (values.json) return writeJson(terminal.out, created)
    terminal.out.write(`${created.join_token}\n`)
    terminal.err.write('It is not shown again: set it as EYRIE_JOIN_TOKEN of the engines.\n')
  },
}

/** `eyrie join-token list`: lists the tokens, without their secrets. */
export const listJoinTokensCommand: Command = {
  usage: '[--json]',
  about: 'Lists the tokens with which engines register themselves.',

  async run(args, terminal) {
    const { values } = parseArguments(args, JSON_OPTION)
    const { out } = terminal
    const { tokens } = operatorJoinTokens.response.parse(
      await requestOperator(operatorJoinTokens.path, terminal),
    )
    if (values.json) return writeJson(out, tokens)
    const rows = tokens.map(
      ({
        join_token_id: joinTokenId,
        name,
        created_at: createdAt,
        used_at: usedAt,
        expires_at: expiresAt,
      }) => [
        joinTokenId,
        name,
        createdAt.slice(0, 10),
        usedAt?.slice(0, 10) ?? '-',
        expiresAt?.slice(0, 10) ?? 'never',
      ],
    )
    const header = ['ID', 'NAME', 'CREATED', 'LAST USED', 'EXPIRES']
    writeTable(out, [header.map(title => styled(out, 'bold', title)), ...rows])
  },
}

/** `eyrie join-token delete`: deletes a token. */
export const deleteJoinTokenCommand: Command = {
  usage: '<id>',
  about: 'Deletes a token. The engines that have joined with it remain registered.',

  async run(args, terminal) {
    const { positionals } = parseArguments(args, {}, ['id'])
    await requestOperator(operatorJoinTokenDeletion.path, terminal, { join_token_id: positionals[0] })
    writeSuccess(terminal.out, 'deleted', positionals[0])
  },
}
