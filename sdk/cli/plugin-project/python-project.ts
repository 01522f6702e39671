import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Output } from '../command/terminal.ts'
import { runProgram } from './run-program.ts'

/** Runs the tools of Python for a plugin, with the SDK that is part of Eyrie. */

export const PYTHON_SDK = resolve(import.meta.dirname, '../../python')

/** Exit code of `env` if the program does not exist. */
const NOT_FOUND = 127

interface Outputs {
  out: Output
  err: Output
}

/** Whether the plugin in `folder` is written in Python. */
export async function isPythonProject(folder: string): Promise<boolean> {
  const manifest = await readFile(join(folder, 'plugin.json'), 'utf8').catch(() => '')
  return /"entry":\s*"[^"]+\.py"/.test(manifest)
}

/**
 * Writes the schemas of the elements into the manifest. Returns whether the program has succeeded.
 */
export const generatePythonSchemas = async (folder: string, outputs: Outputs): Promise<boolean> =>
  (await runPython(['-m', 'eyrie_element.generate', folder], outputs)) === 0

/**
 * Checks the types with mypy, if it is installed, and runs the tests. `variable`, such as
 * `NAME=value`, is added to the environment of the tests. Returns whether both have succeeded.
 */
export async function testPythonProject(
  folder: string,
  variable: string,
  outputs: Outputs,
): Promise<boolean> {
  const modules = (await readdir(folder)).filter(name => name.endsWith('.py'))
  if (!(await checkTypes(modules, folder, outputs))) return false
  return (await runPython(['-m', 'unittest', '-v'], outputs, folder, [variable])) === 0
}

/**
 * Checks the types with mypy. Returns whether they are correct; true, with a message, if
 * mypy is not installed.
 */
async function checkTypes(
  modules: readonly string[],
  folder: string,
  outputs: Outputs,
): Promise<boolean> {
  const code = await runWithVariables(
    [`MYPYPATH=${PYTHON_SDK}`],
    ['mypy', '--strict', ...modules],
    outputs,
    folder,
  )
  if (code === NOT_FOUND) outputs.out.write('mypy is not installed: the types are not checked\n')
  return code === 0 || code === NOT_FOUND
}

/**
 * Runs Python with the SDK and, if a folder is given, with the libraries of the plugin in it.
 * Returns the exit code.
 */
async function runPython(
  args: readonly string[],
  outputs: Outputs,
  folder?: string,
  variables: readonly string[] = [],
): Promise<number> {
  const paths = [PYTHON_SDK, ...(folder === undefined ? [] : await listLibraries(folder))]
  const code = await runWithVariables(
    [`PYTHONPATH=${paths.join(':')}`, ...variables],
    ['python3', '-B', ...args],
    outputs,
    folder,
  )
  if (code !== NOT_FOUND) return code
  throw new Error(
    'python3 is not installed: install it, for example with apt-get install python3 python3-numpy',
  )
}

/** Runs a program with environment variables in addition to those of the user. */
const runWithVariables = (
  variables: readonly string[],
  command: readonly string[],
  outputs: Outputs,
  folder?: string,
) => runProgram('env', [...variables, ...command], outputs, folder)

/**
 * Lists the paths of the libraries that a package contains, in the order in which the
 * engine searches them.
 */
async function listLibraries(folder: string): Promise<string[]> {
  const wheels = await readdir(join(folder, 'wheels')).catch(() => [])
  return [join(folder, 'vendor'), ...wheels.sort().map(name => join(folder, 'wheels', name))]
}
