import type { SystemAlertKind } from '@eyrie/contract/management/system-alert-kind'

/**
 * The name of each kind of alert, and what to do. The guide "System alerts" has a
 * section for each of them.
 */
const TEXTS: Record<SystemAlertKind, { title: string; remedy: string }> = {
  camera_unreachable: {
    title: 'Camera unreachable',
    remedy: 'check its power, its network and its password',
  },
  picture_black: {
    title: 'Picture black',
    remedy: 'check the light, and whether the lens is covered',
  },
  picture_frozen: { title: 'Picture frozen', remedy: 'restart the camera' },
  picture_defocused: {
    title: 'Picture defocused',
    remedy: 'clean and focus the lens, or acknowledge this alert',
  },
  picture_moved: {
    title: 'Camera moved',
    remedy:
      'turn the camera back and check lines and zones, or acknowledge this alert if the new view is intended',
  },
  low_frame_rate: {
    title: 'Frame rate low',
    remedy: 'reduce the load of the engine, or the rate of the source; see the guide Capacity',
  },
  recording_stopped: {
    title: 'Recording stopped',
    remedy: 'check the disk of the recordings and its free space',
  },
  disk_filling: {
    title: 'Disk filling',
    remedy: 'delete files that are not needed, or enlarge the disk',
  },
  engine_away: { title: 'Engine unreachable', remedy: 'check that it runs, and the network to it' },
  events_lost: {
    title: 'Events lost',
    remedy:
      'read why in the log of management, "skipped engine messages that cannot be stored", and correct the plugin, or report it with a support bundle if it concerns all channels',
  },
  clock_wrong: {
    title: 'Clock wrong',
    remedy: 'let a time server (NTP) set the clocks of both machines',
  },
  certificate_ending: {
    title: 'Certificate ending',
    remedy: 'renew the file that EYRIE_TLS_CERT names, and restart',
  },
  license_ending: { title: 'License ending', remedy: 'renew the license of the engine' },
  backup_overdue: {
    title: 'Backup overdue',
    remedy: 'run ./eyrie backup, and check the scheduled backups',
  },
  engines_unbalanced: {
    title: 'Engines unbalanced',
    remedy:
      'see and apply the plan on the page Engines of the console, or with ./eyrie placement; or acknowledge this alert',
  },
}

export const getTitle = (kind: SystemAlertKind): string => TEXTS[kind].title

/** Returns what is wrong and what to do, as a sentence. */
export function describeAlert(kind: SystemAlertKind, reason: string): string {
  const { remedy } = TEXTS[kind]
  // Reasons of engines may contain their own remedy after a colon.
  return reason.includes(': ') ? reason : `${reason}: ${remedy}`
}
