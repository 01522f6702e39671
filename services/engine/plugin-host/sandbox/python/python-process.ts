import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { LaunchPolicy } from '@eyrie/kit/launcher/policy'

/** Runs elements in Python, with the interpreter and the libraries of the machine. */

/**
 * The interpreter of the distribution. An interpreter that a user has installed may be in a folder
 * that the services cannot read.
 */
export const PYTHON = '/usr/bin/python3'
export const PYTHON_SDK = resolve(import.meta.dirname, '../../../../../sdk/python')
const START_SCRIPT = resolve(PYTHON_SDK, 'eyrie_element/process/start.py')

const INTERPRETER_OPTIONS = [
  // Isolated mode: environment variables and packages of users have no effect.
  '-I',
  // The start script itself adds the libraries of the machine, after the files of the plugin.
  '-S',
  // The process may write no files, so Python must not try to store compiled code.
  '-B',
  // UTF-8 in any locale.
  '-X',
  'utf8',
]

/** Whether the entry module of a plugin is in Python. */
export const isPython = (entry: string): boolean => entry.endsWith('.py')

/** Throws an `Error` with the command that installs Python if the machine has none. */
export function assertPythonInstalled(interpreter = PYTHON): void {
  if (existsSync(interpreter)) return
  throw new Error(
    `this machine has no ${interpreter}, which elements in Python need: install it, for example with apt-get install python3 python3-numpy`,
  )
}

/**
 * Returns what a process in Python may use: it can read its package and the SDK. The libraries of
 * the machine need no permission, because every process can read them.
 */
export function createPythonPolicy(entry: string, limits: LaunchPolicy['limits']): LaunchPolicy {
  return { read: [PYTHON_SDK, dirname(entry)], execute: [PYTHON], limits }
}

/**
 * Returns the program that runs an element (`serve`) or inspects a plugin (`inspect`), and its
 * arguments.
 */
export function createPythonCommand(
  task: 'serve' | 'inspect',
): [program: string, ...args: string[]] {
  return [PYTHON, ...INTERPRETER_OPTIONS, START_SCRIPT, task]
}
