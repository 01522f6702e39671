import { existsSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readLocalFile } from '../command/local-files.ts'
import type { Output, Terminal } from '../command/terminal.ts'
import { findCompiler } from '../sdk-package/find-compiler.ts'
import { generatePythonSchemas, isPythonProject, testPythonProject } from './python-project.ts'
import { runProgram } from './run-program.ts'

/**
 * Runs the code of a plugin on behalf of its author, to generate schemas and to run tests. Each
 * program runs in a process of its own, without a sandbox, with the rights of the user.
 */

const ROOT = resolve(import.meta.dirname, '../../..')
const GENERATOR = join(ROOT, 'sdk/element/generate.ts')
/** The program that runs the models of a plugin in its tests. */
const MODEL_HOST = join(ROOT, 'services/engine/plugin-test/main.ts')
/**
 * Where Node stores the compiled code of the generator, with which it runs in half of the time. Not
 * in the folder for temporary files, where other users could leave code.
 */
const CODE_FOLDER = join(homedir(), '.cache/eyrie/compiled')

/**
 * Writes the schemas of the elements into the manifest. Rejects with the error output of the
 * program if it fails.
 */
export async function generateSchemas(folder: string): Promise<void> {
  const errors: string[] = []
  const outputs = {
    out: { write() {} },
    err: { write: (text: string) => errors.push(text) },
  }
  const hasSucceeded = (await isPythonProject(folder))
    ? await generatePythonSchemas(folder, outputs)
    : await runGenerator(folder, outputs)
  if (!hasSucceeded) throw new Error(errors.join('').trim())
}

/** Runs the generator for a plugin in TypeScript. Returns whether it has succeeded. */
async function runGenerator(folder: string, outputs: { out: Output; err: Output }) {
  // The generator inherits a folder for compiled code that the user has set for this process.
  const hasFolder = getCompileCacheDir() !== undefined
  const variables = hasFolder ? [] : [`NODE_COMPILE_CACHE=${CODE_FOLDER}`]
  // `env` sets the variables for the command.
  const command = [...variables, process.execPath, GENERATOR, folder]
  return (await runProgram('env', command, outputs)) === 0
}

/**
 * Checks the types of a project, and runs its tests. Returns whether both have succeeded. Rejects
 * if the folder is not that of a plugin: without any test, the test runner would succeed.
 */
export async function testProject(
  folder: string,
  terminal: Pick<Terminal, 'data' | 'out' | 'err'>,
): Promise<boolean> {
  await readLocalFile(join(folder, 'plugin.json'))
  const modelHostVariable = `EYRIE_MODEL_HOST=${createModelHostCommand(folder, terminal.data)}`
  if (await isPythonProject(folder)) return testPythonProject(folder, modelHostVariable, terminal)

  if (existsSync(join(folder, 'tsconfig.json'))) {
    const code = await runNode([findCompiler(), '--noEmit', '-p', folder], terminal)
    if (code !== 0) return false
  }
  // If the project has no SDK installed, these hooks resolve its imports to the SDK of Eyrie.
  const hooks = pathToFileURL(join(import.meta.dirname, 'resolve-sdk.ts')).href
  const command = [process.execPath, '--import', hooks, '--test', '--test-reporter', 'spec']
  // `env` sets the variable for the command.
  return (await runProgram('env', [modelHostVariable, ...command], terminal, folder)) === 0
}

/**
 * Returns the command with which the test kit starts the program that runs models, as a JSON list.
 * The program finds the models of the machine and of the plugin.
 */
function createModelHostCommand(folder: string, data: string): string {
  const modelFolders = [join(data, 'models'), join(ROOT, 'models')]
  return JSON.stringify([process.execPath, MODEL_HOST, JSON.stringify({ folder, modelFolders })])
}

/** Runs a program in Node, and passes its output on. Returns its exit code. */
const runNode = (args: string[], outputs: { out: Output; err: Output }): Promise<number> =>
  runProgram(process.execPath, args, outputs)
