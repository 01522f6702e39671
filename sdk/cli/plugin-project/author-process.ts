import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Output } from '../command/terminal.ts'
import { findCompiler } from '../sdk-package/find-compiler.ts'

/** Programs that load the code of a plugin, each in a process of its own. They run with the rights of the user. */

const ROOT = resolve(import.meta.dirname, '../../..')
const GENERATOR = join(ROOT, 'sdk/element/generate.ts')

/** Writes the schemas of the elements into the manifest. Rejects with the reason. */
export async function generateSchemas(folder: string): Promise<void> {
  const errors: string[] = []
  const ignored = { write: () => {} }
  const code = await runNode([GENERATOR, folder], { out: ignored, err: { write: text => errors.push(text) } })
  if (code !== 0) throw new Error(errors.join('').trim())
}

/** Checks the types of a project, and runs its tests. Returns whether both have succeeded. */
export async function testProject(folder: string, terminal: { out: Output; err: Output }): Promise<boolean> {
  if (existsSync(join(folder, 'tsconfig.json'))) {
    const code = await runNode([findCompiler(), '--noEmit', '-p', folder], terminal)
    if (code !== 0) return false
  }
  // Without an installed SDK, the tests use this copy.
  const hooks = pathToFileURL(join(import.meta.dirname, 'resolve-sdk.ts')).href
  const code = await runNode(['--import', hooks, '--test', '--test-reporter', 'spec'], terminal, folder)
  return code === 0
}

/** Runs a program in Node, and passes its output on. Returns its exit code. */
function runNode(
  args: string[],
  { out, err }: { out: Output; err: Output },
  folder?: string,
): Promise<number> {
  const { promise, resolve: finish, reject } = Promise.withResolvers<number>()
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.setEncoding('utf8').on('data', text => out.write(text))
  child.stderr.setEncoding('utf8').on('data', text => err.write(text))
  child.on('error', reject)
  child.on('close', code => finish(code ?? 1))
  return promise
}
