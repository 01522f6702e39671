import { realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Environment, readSettings } from '@eyrie/kit'

// The files and folders that media uses, for its policy.

const ROOT = resolve(import.meta.dirname, '../..')
const PACKAGES = join(ROOT, 'node_modules')

/**
 * GStreamer's list of plugins, relative to the data folder. Other programs do not use it, because
 * media can write to it.
 */
export const REGISTRY_FILE = 'gstreamer/registry.bin'

/** Returns the folders in which media writes, except the one of the decoded frames. */
export function listWritableFolders({ data }: Environment): string[] {
  const recordings = readSettings(data).media.recording.folder ?? join(data, 'recordings')
  return [recordings, join(data, dirname(REGISTRY_FILE))]
}

/**
 * Returns the folders in which the worker for WebRTC may be installed while media runs: in a
 * checkout and in the data folder.
 */
export const listWorkerFolders = (data: string): string[] =>
  [join(ROOT, '.toolchain'), data].map(folder => join(folder, 'mediasoup-worker'))

/**
 * Eyrie's code. If `node_modules` contains links, the folder to which they lead is included. It is
 * looked up only once, so that media can restart while `npm ci` replaces the packages.
 */
export const CODE_PATHS = [
  join(ROOT, 'services'),
  join(ROOT, 'sdk'),
  join(ROOT, 'package.json'),
  ...new Set([PACKAGES, dirname(realpathSync(join(PACKAGES, 'zod')))]),
]

/** Files and folders for names, addresses and the certificates of authorities. */
export const NETWORK_PATHS = [
  '/etc/hosts',
  '/etc/resolv.conf',
  '/etc/nsswitch.conf',
  '/etc/host.conf',
  '/etc/gai.conf',
  '/etc/services',
  '/etc/protocols',
  '/etc/ssl',
  '/etc/ca-certificates',
  '/etc/gnutls',
  '/etc/pkcs11',
  '/etc/machine-id',
  // `/etc/resolv.conf` may be a link to a file in one of these folders. The file alone is not
  // enough, because it is replaced when the network changes.
  '/run/systemd/resolve',
  '/run/NetworkManager',
  '/run/resolvconf',
  '/run/connman',
]

/**
 * Files and folders in which GStreamer, its plugins and the drivers of graphics cards look up the
 * devices and settings of the machine.
 */
export const MACHINE_PATHS = [
  '/proc',
  '/usr/share',
  '/run/udev',
  '/sys/devices',
  '/sys/class',
  '/sys/bus',
  '/sys/dev',
  '/sys/module',
  '/sys/fs/cgroup',
  '/etc/glvnd',
  '/etc/vulkan',
  '/etc/OpenCL',
  '/etc/drirc',
  '/etc/libva.conf',
  '/etc/orc',
  '/etc/udev',
]

/**
 * Environment variables that name further folders of plugins, drivers and libraries, separated by
 * colons.
 */
export const FOLDER_VARIABLES = [
  'GST_PLUGIN_PATH',
  'GST_PLUGIN_PATH_1_0',
  'GST_PLUGIN_SYSTEM_PATH',
  'GST_PLUGIN_SYSTEM_PATH_1_0',
  'GST_REGISTRY',
  'LIBVA_DRIVERS_PATH',
  'LD_LIBRARY_PATH',
  'NODE_COMPILE_CACHE',
]
