import { type Dirent, readdirSync, realpathSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import type { Environment } from '@eyrie/kit'
import type { LaunchPolicy } from '@eyrie/kit/launcher/policy'
import {
  CODE_PATHS,
  FOLDER_VARIABLES,
  listWorkerFolders,
  MACHINE_PATHS,
  NETWORK_PATHS,
} from './media-paths.ts'

/** Device files of cameras, decoders and graphics cards. */
const VIDEO_DEVICE =
  /^(dri|video\d+|media\d+|v4l-subdev\d+|nvidia(ctl|\d+|-uvm)|dma_heap|udmabuf|mpp_service|rga)$/
/** Device of the NVIDIA driver, which uses CUDA. */
const NVIDIA_DRIVER = 'nvidiactl'

export interface MediaPolicyOptions {
  /** The environment of media. */
  variables: NodeJS.ProcessEnv
  /** Media may write below these folders. */
  writableFolders: readonly string[]
  /** Folder of the device files. */
  deviceFolder?: string
}

/**
 * Creates the policy of media, in which GStreamer parses data from cameras and from unauthenticated
 * clients. Media has the network and the devices for video. It can read only its own code, files
 * about the machine, and the videos that it serves. It can start only the worker for WebRTC,
 * GStreamer's scanner of plugins, and Node.
 */
export function createMediaPolicy(
  { data, ring, mediaRoots, webrtcWorker }: Environment,
  { variables, writableFolders, deviceFolder = '/dev' }: MediaPolicyOptions,
): LaunchPolicy {
  const deviceNames = listNames(deviceFolder).filter(name => VIDEO_DEVICE.test(name))
  const workers = webrtcWorker ? [resolve(webrtcWorker)] : listWorkerFolders(data)
  return {
    read: [
      ...CODE_PATHS,
      ...NETWORK_PATHS,
      ...MACHINE_PATHS,
      ...FOLDER_VARIABLES.flatMap(name => parseFolderList(variables[name])),
      ...mediaRoots.flatMap(folder => grantWithout(toReal(folder), toReal(data))),
      join(data, 'eyrie.json'),
    ],
    execute: [process.execPath, ...workers, ...findPluginScanners()],
    write: [ring, ...writableFolders].map(path => resolve(path)),
    devices: deviceNames.map(name => join(deviceFolder, name)),
    sockets: true,
    processes: true,
    threadNames: deviceNames.includes(NVIDIA_DRIVER),
    // How much CPU time and memory media needs depends on its cameras.
    limits: {},
  }
}

/** Parses a list such as `/usr/lib:/opt/lib`. Returns absolute paths. */
function parseFolderList(list = ''): string[] {
  const folders = list.split(':').filter(folder => folder !== '')
  return folders.map(folder => resolve(folder))
}

/**
 * Returns the paths to grant so that `folder` can be read without the data folder, which contains
 * secrets. If the data folder is below `folder`, the entries of each folder between the two are
 * granted one by one. Entries that are created later are not granted.
 */
function grantWithout(folder: string, data: string): string[] {
  if (!isWithin(data, folder)) return [folder]
  if (folder === data) return []
  return (
    listEntries(folder)
      // A link may lead to the data folder.
      .filter(entry => !entry.isSymbolicLink())
      .flatMap(({ name }) => grantWithout(join(folder, name), data))
  )
}

/**
 * Returns the path without links, because the kernel also grants the file to which a link leads.
 */
function toReal(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path // It does not exist, and nothing is granted.
  }
}

const isWithin = (path: string, folder: string) =>
  path === folder || path.startsWith(join(folder, sep))

/** Returns the paths of GStreamer's scanner of plugins, one for each architecture. */
function findPluginScanners(): string[] {
  return listNames('/usr/lib')
    .filter(name => name.endsWith('-linux-gnu'))
    .map(name => join('/usr/lib', name, 'gstreamer1.0/gstreamer-1.0/gst-plugin-scanner'))
}

const listNames = (folder: string): string[] => listEntries(folder).map(({ name }) => name)

function listEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
