import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { LaunchPolicy } from '@eyrie/kit/launcher/policy'

/** Runs elements in Python, with the interpreter and the libraries of the machine. */

/**
 * The interpreter of the distribution. Those of users may be in folders that the
 * services cannot read.
 */
export const PYTHON = '/usr/bin/python3'
export const PYTHON_SDK = resolve(import.meta.dirname, '../../../../../sdk/python')
const START = resolve(PYTHON_SDK, 'eyrie_element/process/start.py')

/** Whether the entry module of a plugin is in Python. */
export const isPython = (entry: string): boolean => entry.endsWith('.py')

/** Throws an `Error` with the remedy if the machine has no Python. */
export function assertPythonInstalled(interpreter = PYTHON): void {
  if (existsSync(interpreter)) return
  throw new Error(
    `this machine has no ${interpreter}, which elements in Python need: install it, for example with apt-get install python3 python3-numpy`,
  )
}

/**
 * What a process in Python may use: it reads its package, the SDK, and the libraries of the
 * machine, which all programs can.
 */
export function createPythonPolicy(entry: string, limits: LaunchPolicy['limits']): LaunchPolicy {
  return { read: [PYTHON_SDK, dirname(entry)], execute: [PYTHON], limits }
}

/**
 * The command of a process that runs an element (`serve`) or inspects a plugin (`inspect`). Python
 * reads no environment and no settings, writes no compiled code, and uses UTF-8.
 */
export const createPythonCommand = (
  command: 'serve' | 'inspect',
  ...args: string[]
): [program: string, ...args: string[]] => [
  PYTHON,
  '-I',
  '-S',
  '-B',
  '-X',
  'utf8',
  START,
  command,
  ...args,
]
