import { basename, resolve } from 'node:path'
import { pluginName } from '@eyrie/contract/plugin'
import { type Command, parseArguments, UsageError } from '../command/command.ts'
import { writeSuccess } from '../command/terminal.ts'
import { generateSchemas, testProject } from './author-process.ts'
import { createProject } from './create-project.ts'
import { askQuestions } from './questions.ts'

/**
 * Commands for authors of plugins. They run the code of the plugin without a sandbox, with
 * the rights of the user.
 */

const CREATE_OPTIONS = {
  language: { type: 'string' },
  reads: { type: 'string' },
  description: { type: 'string' },
} as const

/** `eyrie plugin create`: creates the project of a new plugin. */
export const createPluginCommand: Command = {
  usage: '<folder> [--language typescript|python] [--reads objects|pictures] [--description TEXT]',
  about:
    'Creates the folder of a new plugin with an element, a test, a README and a CI file. On a terminal it asks for what no\n' +
    'option says. It needs no network.',

  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, CREATE_OPTIONS, ['name'])
    const folder = positionals[0].replace(/\/+$/, '')
    const name = basename(folder)
    if (!pluginName.safeParse(name).success) {
      throw new UsageError(
        `${name} should be the name of a plugin: up to 64 lower-case letters, digits and hyphens, such as dwell-alarm`,
      )
    }
    const answers = await askQuestions(values, terminal)
    await createProject(folder, { name, ...answers }, terminal.captureInterrupt?.())
    const { out } = terminal
    writeSuccess(out, 'created', `${folder}/`)
    out.write(`  eyrie plugin test ${folder}   runs its tests\n`)
    out.write(`  eyrie plugin add ${folder}    uploads it to the engine\n`)
  },
}

/** `eyrie plugin generate`: updates the manifest from the code. */
export const generatePluginCommand: Command = {
  usage: '<folder>',
  about:
    'Writes the schemas of args and config, and the events, into the plugin.json of a plugin. Run it after a change of these\n' +
    'in the code.',

  async run(args, { out }) {
    const { positionals } = parseArguments(args, {}, ['folder'])
    const [folder] = positionals
    await generateSchemas(folder)
    writeSuccess(out, 'wrote', `${folder.replace(/\/$/, '')}/plugin.json`)
  },
}

/** `eyrie plugin test`: runs the tests of a plugin. */
export const testPluginCommand: Command = {
  usage: '<folder>',
  about:
    'Checks the types of a plugin, and runs its tests: *.test.ts with the test runner of Node, or test*.py with unittest.',

  async run(args, terminal) {
    const { positionals } = parseArguments(args, {}, ['folder'])
    const [folder] = positionals
    if (!(await testProject(resolve(folder), terminal))) {
      throw new Error(`the tests of ${folder} have failed`)
    }
  },
}
