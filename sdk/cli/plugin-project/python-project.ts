import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Output } from '../command/terminal.ts'
import { runProgram } from './run-program.ts'

/** Runs Python and its tools for a plugin, with the SDK that is part of Eyrie. */

/** Folder of the SDK for elements in Python. */
export const PYTHON_SDK = resolve(import.meta.dirname, '../../python')

/** Exit code of `env` if the program is not installed. */
const NOT_INSTALLED = 127

interface Outputs {
  out: Output
  err: Output
}

/** Whether the plugin in `folder` is written in Python. */
export async function isPythonProject(folder: string): Promise<boolean> {
  // The manifest is searched as text, because it may not be valid yet.
  const manifest = await readFile(join(folder, 'plugin.json'), 'utf8').catch(() => '')
  return /"entry":\s*"[^"]+\.py"/.test(manifest)
}

/**
 * Writes the schemas of the elements into the manifest. Returns whether the program has succeeded.
 */
export const generatePythonSchemas = async (folder: string, outputs: Outputs): Promise<boolean> =>
  (await runPython({ args: ['-m', 'eyrie_element.generate', folder] }, outputs)) === 0

/**
 * Checks the types with mypy, if it is installed, and runs the tests. `variable` is an environment
 * variable of the tests, such as `NAME=value`. Returns whether both have succeeded.
 */
export async function testPythonProject(
  folder: string,
  variable: string,
  outputs: Outputs,
): Promise<boolean> {
  const modules = (await readdir(folder)).filter(name => name.endsWith('.py'))
  if (!(await checkTypes(modules, folder, outputs))) return false
  const tests = { args: ['-m', 'unittest', '-v'], folder, variables: [variable] }
  return (await runPython(tests, outputs)) === 0
}

/**
 * Checks the types with mypy. Returns whether they are correct. If mypy is not installed, prints
 * that, and returns true.
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
  if (code !== NOT_INSTALLED) return code === 0
  outputs.out.write('mypy is not installed: the types are not checked\n')
  return true
}

/** A run of Python with the SDK. */
interface PythonRun {
  args: readonly string[]
  /** Folder of a plugin. Python runs in it, and can import its libraries. */
  folder?: string
  /** Environment variables in addition to those of the user, such as `NAME=value`. */
  variables?: readonly string[]
}

/** Runs Python. Returns the exit code. Rejects with the remedy if Python is not installed. */
async function runPython(
  { args, folder, variables = [] }: PythonRun,
  outputs: Outputs,
): Promise<number> {
  const libraries = folder === undefined ? [] : await listLibraries(folder)
  const importPaths = [PYTHON_SDK, ...libraries]
  const code = await runWithVariables(
    [`PYTHONPATH=${importPaths.join(':')}`, ...variables],
    // With -B, Python does not write `__pycache__` folders.
    ['python3', '-B', ...args],
    outputs,
    folder,
  )
  if (code !== NOT_INSTALLED) return code
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
 * Lists the paths of the libraries in the folder of a plugin, in the order in which the engine
 * searches them: the folder `vendor`, and then the packages in `wheels`.
 */
async function listLibraries(folder: string): Promise<string[]> {
  const wheels = await readdir(join(folder, 'wheels')).catch(() => [])
  return [join(folder, 'vendor'), ...wheels.sort().map(name => join(folder, 'wheels', name))]
}
