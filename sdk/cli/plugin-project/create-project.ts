import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { createLocalFolder } from '../command/local-files.ts'
import { packFolder } from '../plugin/plugin-archive.ts'
import { buildSdkPackage } from '../sdk-package/build-sdk-package.ts'
import { generateSchemas } from './author-process.ts'
import { createProjectFiles, type PluginProject, SDK_ARCHIVE } from './project-files.ts'
import { PYTHON_SDK } from './python-project.ts'

const PACKAGES = resolve(import.meta.dirname, '../../../node_modules')
/**
 * The packages that a type check of the project needs. They are copied, because npm would
 * store the path of a link.
 */
const COPIED_PACKAGES = ['zod', '@types/node', 'undici-types']

/**
 * Creates the folder of a new plugin, complete and ready to run without a network: code, test,
 * manifest with schemas, and the SDK. Rejects if the folder exists, or if `interruption` fires. The
 * folder appears when it is complete; after a failure or an interruption nothing remains.
 */
export async function createProject(
  folder: string,
  plugin: PluginProject,
  interruption?: AbortSignal,
): Promise<void> {
  const target = resolve(folder)
  if (existsSync(target)) {
    throw new Error(`${folder} exists already: choose another name, or delete it`)
  }

  // In the same file system as the project, for the rename.
  const parent = dirname(target)
  await createLocalFolder(parent)
  const temporary = await mkdtemp(join(parent, '.eyrie-plugin-'))
  // The draft is a sub-folder, because only the user can read the temporary folder.
  const draft = join(temporary, 'project')
  try {
    for (const [path, content] of Object.entries(await createProjectFiles(plugin))) {
      await mkdir(dirname(join(draft, path)), { recursive: true })
      await writeFile(join(draft, path), content)
    }
    if (plugin.language === 'python') await copyPythonSdk(join(draft, '.sdk/eyrie-element'))
    else await provideSdk(draft)
    await generateSchemas(draft)
    interruption?.throwIfAborted()
    await rename(draft, target)
  } catch (error) {
    // Ctrl-C also ends the programs above, with errors of their own.
    if (interruption?.aborted) {
      throw new Error(`interrupted: ${folder} was not created`, { cause: error })
    }
    throw error
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/** Copies what `pip install` needs, and what editors and tests can use as it is. */
async function copyPythonSdk(folder: string): Promise<void> {
  for (const part of ['pyproject.toml', 'README.md', 'eyrie_element']) {
    await cp(join(PYTHON_SDK, part), join(folder, part), {
      recursive: true,
      filter: path => basename(path) !== '__pycache__',
    })
  }
}

/** Stores the SDK as a package for `npm install`, and installs it as npm would. */
async function provideSdk(project: string): Promise<void> {
  const installed = join(project, 'node_modules/@eyrie/element')
  await buildSdkPackage(installed)
  await mkdir(join(project, '.sdk'))
  await writeFile(join(project, SDK_ARCHIVE), await packFolder(installed))

  for (const name of COPIED_PACKAGES) {
    const source = join(PACKAGES, name)
    await cp(source, join(project, 'node_modules', name), {
      recursive: true,
      // zod contains its sources too.
      filter: path => path !== join(source, 'src'),
    })
  }
}
