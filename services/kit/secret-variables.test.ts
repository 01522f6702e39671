import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { extractSecrets } from './secret-variables.ts'

const module = resolve(import.meta.dirname, 'secret-variables.ts')
const program = `
import { fstatSync } from 'node:fs'
import { extractSecrets } from '${module}'
const secrets = extractSecrets(process.env)
const isOpen = () => { try { fstatSync(3); return true } catch { return false } }
console.log(JSON.stringify({ secrets, variables: Object.keys(process.env), isOpen: isOpen() }))`

/** Runs a program that extracts its secrets. `pipe` is the content of descriptor 3. */
function run(variables: NodeJS.ProcessEnv, pipe: string): unknown {
  const file = join(createTemporaryFolder(), 'pipe')
  writeFileSync(file, pipe)
  const command = 'exec "$@" 3<"$0"'
  const node = [process.execPath, '--input-type=module', '-e', program]
  const output = execFileSync('sh', ['-c', command, file, ...node], {
    env: variables,
    stdio: 'pipe',
  })
  return JSON.parse(String(output))
}

describe('extractSecrets', () => {
  it('removes secrets from the variables', () => {
    const variables = { EYRIE_INTERNAL_TOKEN: 'internal', EYRIE_DATA: '/data', DATABASE_URL: '' }
    expect(extractSecrets(variables)).toEqual({ EYRIE_INTERNAL_TOKEN: 'internal' })
    expect(variables).toEqual({ EYRIE_DATA: '/data' })
  })

  it('reads secrets from the descriptor, which takes precedence, and closes it', () => {
    const variables = {
      EYRIE_SECRETS_FD: '3',
      EYRIE_ENGINE_TOKENS: 'old',
      EYRIE_ADMIN_PASSWORD: 'variable',
    }
    expect(run(variables, '{"EYRIE_ENGINE_TOKENS":"new"}')).toEqual({
      secrets: { EYRIE_ENGINE_TOKENS: 'new', EYRIE_ADMIN_PASSWORD: 'variable' },
      variables: expect.not.arrayContaining([expect.stringMatching(/^EYRIE_/)]),
      isOpen: false,
    })
  })

  it.each(['{"EYRIE_ENGINE_TOKENS":"hidden"', '{"hidden":"hidden"}'])(
    'does not reveal the content %s when it is invalid',
    content => {
      expect(() => run({ EYRIE_SECRETS_FD: '3' }, content)).toThrow(
        /EYRIE_SECRETS_FD is not valid: descriptor 3/,
      )
      expect(() => run({ EYRIE_SECRETS_FD: '3' }, content)).not.toThrow(/hidden/)
    },
  )

  it.each(['x', '-1', '0'])('rejects the descriptor %s', EyrieSecretsFd => {
    expect(() => extractSecrets({ EYRIE_SECRETS_FD: EyrieSecretsFd })).toThrow(
      `EYRIE_SECRETS_FD is not valid: ${EyrieSecretsFd}`,
    )
  })
})
