import { type Dirent, readdirSync, realpathSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { type Environment, readSettings } from '@eyrie/kit'
import type { LaunchPolicy } from '@eyrie/kit/launcher/policy'

const ROOT = resolve(import.meta.dirname, '../..')
const PACKAGES = join(ROOT, 'node_modules')
/**
 * GStreamer's list of plugins, relative to the data folder. Other programs do not use it, because
 * media can write to it.
 */
export const REGISTRY_FILE = 'gstreamer/registry.bin'
const VIDEO_DEVICE =
  /^(dri|video\d+|media\d+|v4l-subdev\d+|nvidia(ctl|\d+|-uvm)|dma_heap|udmabuf|mpp_service|rga)$/
/** Device of the NVIDIA driver, which uses CUDA. */
const NVIDIA_DRIVER = 'nvidiactl'

const inFolder = (folder: string, ...names: string[]) => names.map(name => join(folder, name))

/** Eyrie's code. If `node_modules` contains links, the folder to which they lead is included. */
const CODE = [
  ...inFolder(ROOT, 'services', 'sdk', 'package.json'),
  ...new Set([PACKAGES, dirname(realpathSync(join(PACKAGES, 'zod')))]),
]
/** Files for names, addresses and the certificates of authorities. */
const NETWORK_FILES = [
  ...inFolder(
    '/etc',
    'hosts',
    'resolv.conf',
    'nsswitch.conf',
    'host.conf',
    'gai.conf',
    'services',
    'protocols',
  ),
  ...inFolder('/etc', 'ssl', 'ca-certificates', 'gnutls', 'pkcs11', 'machine-id'),
]
/**
 * The folders to which `/etc/resolv.conf` may link. Its file alone is not enough: it is replaced
 * when the network changes.
 */
const RESOLVER_FOLDERS = inFolder(
  '/run',
  'systemd/resolve',
  'NetworkManager',
  'resolvconf',
  'connman',
)

/**
 * Folders in which GStreamer, its plugins and the drivers of graphics cards look up the devices and
 * settings of the machine.
 */
const MACHINE_FOLDERS = [
  ...['/proc', '/usr/share', '/run/udev'],
  ...inFolder('/sys', 'devices', 'class', 'bus', 'dev', 'module', 'fs/cgroup'),
  ...inFolder('/etc', 'glvnd', 'vulkan', 'OpenCL', 'drirc', 'libva.conf', 'orc', 'udev'),
]
/**
 * Environment variables that name further folders of plugins, drivers and libraries,
 * separated by colons.
 */
const FOLDER_VARIABLES = [
  'GST_PLUGIN_PATH',
  'GST_PLUGIN_PATH_1_0',
  'GST_PLUGIN_SYSTEM_PATH',
  'GST_PLUGIN_SYSTEM_PATH_1_0',
  'GST_REGISTRY',
  'LIBVA_DRIVERS_PATH',
  'LD_LIBRARY_PATH',
  'NODE_COMPILE_CACHE',
]

/**
 * Creates the policy of media, in which GStreamer parses what cameras and strangers send. Media has
 * the network and the devices for video. It can read only its own code, files about the machine,
 * and the videos that it serves, and start only the worker for WebRTC, GStreamer's scanner of
 * plugins, and Node. `variables` are its environment, and it writes below `writableFolders`.
 */
export function createMediaPolicy(
  environment: Environment,
  variables: NodeJS.ProcessEnv,
  writableFolders: readonly string[],
  deviceFolder = '/dev',
): LaunchPolicy {
  const { data, ring, mediaRoots, webrtcWorker } = environment
  const devices = findVideoDevices(deviceFolder)
  return {
    read: [
      ...CODE,
      ...NETWORK_FILES,
      ...RESOLVER_FOLDERS,
      ...MACHINE_FOLDERS,
      ...FOLDER_VARIABLES.flatMap(name => splitFolders(variables[name])).map(toAbsolute),
      ...mediaRoots.flatMap(folder => grantWithout(toReal(folder), toReal(data))),
      join(data, 'eyrie.json'),
    ],
    execute: [
      process.execPath,
      ...(webrtcWorker ? [toAbsolute(webrtcWorker)] : listWorkerFolders(data)),
      ...findPluginScanners(),
    ],
    write: [ring, ...writableFolders].map(toAbsolute),
    devices,
    sockets: true,
    processes: true,
    threadNames: devices.includes(join(deviceFolder, NVIDIA_DRIVER)),
    limits: {},
  }
}

const splitFolders = (list = '') => list.split(':').filter(Boolean)

const toAbsolute = (path: string) => resolve(path)

/**
 * The folders in which the worker for WebRTC is installed while media runs, in a checkout
 * and in the data folder.
 */
export const listWorkerFolders = (data: string): string[] =>
  [join(ROOT, '.toolchain'), data].map(folder => join(folder, 'mediasoup-worker'))

/** Returns the folders in which media writes, except the one of the decoded frames. */
export function listWritableFolders({ data }: Environment): string[] {
  const recordings = readSettings(data).media.recording.folder ?? join(data, 'recordings')
  return [recordings, join(data, dirname(REGISTRY_FILE))]
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

function findPluginScanners(): string[] {
  return listNames('/usr/lib')
    .filter(name => name.endsWith('-linux-gnu'))
    .map(name => join('/usr/lib', name, 'gstreamer1.0/gstreamer-1.0/gst-plugin-scanner'))
}

/** Returns the device files of cameras, decoders and graphics cards. */
const findVideoDevices = (folder: string): string[] =>
  listNames(folder)
    .filter(name => VIDEO_DEVICE.test(name))
    .map(name => join(folder, name))

const listNames = (folder: string): string[] => listEntries(folder).map(({ name }) => name)

function listEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
