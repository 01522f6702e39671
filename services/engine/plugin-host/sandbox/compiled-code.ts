import { mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '@eyrie/element'
import { launch, waitForSuccess } from '@eyrie/kit/launcher/launch'
import { Mutex } from 'async-mutex'
import { createCompilerCommand, createCompilerPolicy } from './process-policy.ts'
import { isPython } from './python/python-process.ts'

/** Time limit for the process that compiles a plugin, on a busy machine. */
const MAX_COMPILE_MS = 60_000
/** Name of the folder for the SDK, which no plugin can have. */
const SDK_FOLDER = '.sdk'

/** A version of a plugin. */
interface PluginEntry {
  plugin: string
  version: string
  /** Path of its entry module. */
  entry: string
}

/**
 * Code that is compiled in advance, so that sandboxed processes start faster. Only the processes of
 * a version read its folder.
 */
export interface CompiledCode {
  /**
   * Returns the folder with the compiled code of a version. The first call for a version only
   * starts its compilation. Until the code of the version is ready, returns the folder with the
   * code of the SDK, or undefined if that is not ready either.
   */
  requestFolder(plugin: PluginEntry): string | undefined
  /** Returns the folder with the code of the SDK; undefined until it is ready. */
  findSdkFolder(): string | undefined
}

/**
 * Deletes the code that earlier runs of the engine have stored in `folder`, because its plugins
 * may have been removed.
 */
export async function createCompiledCode(folder: string, log: Log): Promise<CompiledCode> {
  await rm(folder, { recursive: true, force: true })
  const sdkFolder = join(folder, SDK_FOLDER)
  const requestedFolders = new Set<string>()
  const readyFolders = new Set<string>()
  // One compilation at a time: when the engine starts, all plugins are requested at once.
  const compiling = new Mutex()

  /**
   * Compiles the SDK and, if there is an `entry`, the plugin with this module, unless that has
   * been requested already.
   */
  async function compile(codeFolder: string, entry?: string): Promise<void> {
    if (requestedFolders.has(codeFolder)) return
    requestedFolders.add(codeFolder)
    try {
      await compiling.runExclusive(() => storeCompiledCode(codeFolder, entry))
      readyFolders.add(codeFolder)
    } catch (error) {
      log.warn({ err: error, folder: codeFolder }, 'failed to store compiled code for plugins')
    }
  }

  return {
    requestFolder({ plugin, version, entry }) {
      if (isPython(entry)) return undefined
      const pluginFolder = join(folder, plugin, version)
      void compile(sdkFolder)
      void compile(pluginFolder, entry)
      return [pluginFolder, sdkFolder].find(candidate => readyFolders.has(candidate))
    },
    findSdkFolder: () => (readyFolders.has(sdkFolder) ? sdkFolder : undefined),
  }
}

/**
 * Stores the compiled code of the SDK, and of the plugin with this entry module, in a folder. The
 * process that compiles does not run the plugin. Rejects if it fails.
 */
export async function storeCompiledCode(codeFolder: string, entry?: string): Promise<void> {
  mkdirSync(codeFolder, { recursive: true, mode: 0o700 })
  const { child } = launch(
    createCompilerCommand(codeFolder, entry),
    createCompilerPolicy(codeFolder, entry),
    { output: 'ignore', timeoutMs: MAX_COMPILE_MS },
  )
  await waitForSuccess(child)
}
