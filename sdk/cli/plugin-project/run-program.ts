import { spawn } from 'node:child_process'
import type { Output } from '../command/terminal.ts'

/**
 * Runs a program, and passes its output on. Returns its exit code. Rejects if it cannot be started.
 */
export function runProgram(
  program: string,
  args: readonly string[],
  { out, err }: { out: Output; err: Output },
  folder?: string,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.setEncoding('utf8').on('data', text => out.write(text))
  child.stderr.setEncoding('utf8').on('data', text => err.write(text))
  child.on('error', reject)
  child.on('close', code => resolve(code ?? 1))
  return promise
}
