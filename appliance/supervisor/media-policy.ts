import { type Dirent, readdirSync, realpathSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { type Environment, readSettings } from '@eyrie/kit'
import type { LaunchPolicy } from '@eyrie/kit/launcher/policy'

const ROOT = resolve(import.meta.dirname, '../..')
const PACKAGES = join(ROOT, 'node_modules')

/** Eyrie's code. Packages may be installed in another folder, to which a link leads. */
const CODE = [
  ...['services', 'sdk', 'package.json'].map(path => join(ROOT, path)),
  ...new Set([PACKAGES, dirname(realpathSync(join(PACKAGES, 'zod')))]),
]
/** The network: names, addresses and certificates of authorities. */
const NETWORK_FILES = [
  ...['hosts', 'resolv.conf', 'nsswitch.conf', 'host.conf', 'gai.conf', 'services', 'protocols'],
  ...['ssl', 'ca-certificates', 'gnutls', 'pkcs11', 'machine-id'],
].map(name => join('/etc', name))
/** Where `/etc/resolv.conf` leads to. Grants are of files, and these folders replace theirs when the network changes. */
const RESOLVER_FOLDERS = ['/run/systemd/resolve', '/run/NetworkManager', '/run/resolvconf', '/run/connman']

/** What GStreamer, its plugins and the drivers of graphics cards read about the machine. */
const MACHINE_FOLDERS = [
  ...['/proc', '/usr/share', '/run/udev'],
  ...['devices', 'class', 'bus', 'dev', 'module', 'fs/cgroup'].map(name => join('/sys', name)),
  ...['glvnd', 'vulkan', 'OpenCL', 'drirc', 'libva.conf', 'orc', 'udev'].map(name => join('/etc', name)),
]
/** Variables that name further folders of plugins, drivers and libraries, separated by colons. */
const FOLDER_VARIABLES = [
  ...['GST_PLUGIN_PATH', 'GST_PLUGIN_PATH_1_0', 'GST_PLUGIN_SYSTEM_PATH', 'GST_PLUGIN_SYSTEM_PATH_1_0'],
  ...['GST_REGISTRY', 'LIBVA_DRIVERS_PATH', 'LD_LIBRARY_PATH', 'NODE_COMPILE_CACHE'],
]

/**
 * What media may use. GStreamer parses what cameras and strangers send, so media has the network and the devices of video, but of
 * files only its own code, the videos that it serves, and what it writes. It starts no programs but the worker for WebRTC,
 * GStreamer's scanner of plugins, and itself. `variables` are its environment, and it writes below `writableFolders`.
 */
export function createMediaPolicy(
  environment: Environment,
  variables: NodeJS.ProcessEnv,
  writableFolders: readonly string[],
): LaunchPolicy {
  const { data, ring, mediaRoots, webrtcWorker } = environment
  return {
    read: [
      ...CODE,
      ...NETWORK_FILES,
      ...RESOLVER_FOLDERS,
      ...MACHINE_FOLDERS,
      ...FOLDER_VARIABLES.flatMap(name => variables[name]?.split(':').filter(Boolean) ?? []).map(toAbsolute),
      ...mediaRoots.flatMap(folder => grantWithout(toReal(folder), toReal(data))),
      join(data, 'eyrie.json'),
    ],
    execute: [
      process.execPath,
      ...(webrtcWorker ? [toAbsolute(webrtcWorker)] : listWorkerFolders(data)),
      ...findPluginScanners(),
    ],
    write: [ring, ...writableFolders].map(toAbsolute),
    devices: findVideoDevices(),
    sockets: true,
    processes: true,
    limits: {},
  }
}

const toAbsolute = (path: string) => resolve(path)

/** The list of GStreamer's plugins, relative to the data folder. Media's own, because other programs would trust its content. */
export const REGISTRY_FILE = 'gstreamer/registry.bin'

/** The folders in which the worker for WebRTC is installed while media runs, in a checkout and in the data folder. */
export const listWorkerFolders = (data: string): string[] =>
  [join(ROOT, '.toolchain'), data].map(folder => join(folder, 'mediasoup-worker'))

/** The folders in which media writes, without the one of the rings. */
export function listWritableFolders({ data }: Environment): string[] {
  const recordings = readSettings(data).media.recording.folder ?? join(data, 'recordings')
  return [recordings, join(data, dirname(REGISTRY_FILE))]
}

/**
 * Returns what to grant so that files in `folder` can be read, but not the data folder below it with its secrets. If it is
 * below, files that are added to the folders above it later are not granted.
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

/** Resolves links, as the kernel does when it grants a path. */
function toReal(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path // It does not exist, and nothing is granted.
  }
}

const isWithin = (path: string, folder: string) => path === folder || path.startsWith(join(folder, sep))

function findPluginScanners(): string[] {
  return listNames('/usr/lib')
    .filter(name => name.endsWith('-linux-gnu'))
    .map(name => join('/usr/lib', name, 'gstreamer1.0/gstreamer-1.0/gst-plugin-scanner'))
}

const VIDEO_DEVICE = /^(dri|video\d+|media\d+|v4l-subdev\d+|nvidia.*|dma_heap|udmabuf|mpp_service|rga)$/

/** Cameras, decoders and graphics cards. */
const findVideoDevices = (): string[] =>
  listNames('/dev')
    .filter(name => VIDEO_DEVICE.test(name))
    .map(name => join('/dev', name))

const listNames = (folder: string): string[] => listEntries(folder).map(({ name }) => name)

function listEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
