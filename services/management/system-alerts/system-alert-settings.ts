import { REDACTED } from '@eyrie/contract/address'
import type { AlertAction } from '@eyrie/contract/management/alert'
import {
  type KindSettings,
  type SystemAlertSettings,
  type SystemAlertSettingsChange,
  systemAlertSettings,
} from '@eyrie/contract/management/system-alert'
import { type SystemAlertKind, systemAlertKind } from '@eyrie/contract/management/system-alert-kind'
import { eq } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { setting } from '../db/schema/index.ts'
import type { Secrets } from '../secrets/secrets.ts'

/** Name of the `setting` row. */
const SETTING = 'system_alert_settings'

/** Seconds for which a failure of each kind must last before it becomes an alert. */
const DEFAULT_HOLD_S: Record<SystemAlertKind, number> = {
  camera_unreachable: 60,
  picture_black: 300,
  // A picture counts as frozen only after `frozen_s`.
  picture_frozen: 0,
  picture_defocused: 300,
  picture_moved: 120,
  low_frame_rate: 300,
  recording_stopped: 60,
  disk_filling: 60,
  engine_away: 60,
  // Several events were lost already.
  events_lost: 0,
  clock_wrong: 300,
  certificate_ending: 0,
  license_ending: 0,
  backup_overdue: 0,
  // The load of sources that were just moved must be measured first.
  engines_unbalanced: 120,
}

/**
 * Kinds that are suggestions rather than failures. By default they are reported in
 * the daily summary only.
 */
const SUMMARIZED_KINDS: readonly SystemAlertKind[] = ['engines_unbalanced']

export const DEFAULT_SETTINGS: SystemAlertSettings = {
  kinds: mapKinds(kind => ({
    is_enabled: true,
    delivery: SUMMARIZED_KINDS.includes(kind) ? 'daily_summary' : 'immediate',
    hold_s: DEFAULT_HOLD_S[kind],
  })),
  actions: [],
  is_end_reported: true,
  repeat_hours: 24,
  summary_time: '07:00',
  summary_timezone: '',
  thresholds: {
    black_brightness: 24,
    frozen_s: 60,
    sharpness_percent: 40,
    similarity_percent: 40,
    frame_rate_percent: 80,
    // Below the 5 percent that recordings leave free.
    disk_free_percent: 3,
    clock_s: 5,
    ending_days: 21,
    backup_days: 8,
  },
}

/** Fields of an action that may contain secrets. */
const SECRET_FIELDS = ['action_access_token', 'action_auth_header', 'action_header'] as const

/** Returns the settings, with the secrets of actions in clear text. */
export async function readSystemAlertSettings(
  tx: Transaction,
  secrets: Secrets,
): Promise<SystemAlertSettings> {
  const settings = await readStored(tx)
  return {
    ...settings,
    actions: settings.actions.map(action => mapSecrets(action, secrets.decrypt)),
  }
}

/** Returns the settings with a placeholder for each secret. */
export async function readRedactedSystemAlertSettings(
  tx: Transaction,
): Promise<SystemAlertSettings> {
  const settings = await readStored(tx)
  return {
    ...settings,
    actions: settings.actions.map(action => mapSecrets(action, () => REDACTED)),
  }
}

/**
 * Updates the settings. Where a secret of an action is the placeholder, the stored secret of the
 * action at the same position remains.
 */
export async function updateSystemAlertSettings(
  tx: Transaction,
  change: SystemAlertSettingsChange,
  secrets: Secrets,
): Promise<void> {
  const stored = await readStored(tx)
  const { kinds = {}, thresholds = {}, actions, ...others } = change
  const merged: SystemAlertSettings = {
    ...stored,
    ...others,
    thresholds: { ...stored.thresholds, ...thresholds },
    kinds: mapKinds(kind => ({ ...stored.kinds[kind], ...kinds[kind] })),
    actions: actions
      ? actions.map((action, index) => encryptSecrets(action, stored.actions[index], secrets))
      : stored.actions,
  }
  const value = systemAlertSettings.parse(merged)
  await tx
    .insert(setting)
    .values({ name: SETTING, value })
    .onConflictDoUpdate({ target: setting.name, set: { value } })
}

/**
 * Returns the stored settings, with secrets encrypted. Kinds and thresholds that are not stored
 * have their defaults.
 */
async function readStored(tx: Transaction): Promise<SystemAlertSettings> {
  const [row] = await tx.select().from(setting).where(eq(setting.name, SETTING))
  const stored = (row?.value ?? {}) as Partial<SystemAlertSettings>
  return {
    ...DEFAULT_SETTINGS,
    ...stored,
    thresholds: { ...DEFAULT_SETTINGS.thresholds, ...stored.thresholds },
    kinds: mapKinds(kind => ({ ...DEFAULT_SETTINGS.kinds[kind], ...stored.kinds?.[kind] })),
  }
}

/** Creates the settings of all kinds. `toSettings` returns those of one kind. */
function mapKinds(
  toSettings: (kind: SystemAlertKind) => KindSettings,
): SystemAlertSettings['kinds'] {
  const entries = systemAlertKind.options.map(kind => [kind, toSettings(kind)])
  return Object.fromEntries(entries) as SystemAlertSettings['kinds']
}

/** Returns the action with every secret transformed. */
function mapSecrets(action: AlertAction, transform: (secret: string) => string): AlertAction {
  const mapped = { ...action }
  for (const field of SECRET_FIELDS) {
    const secret = action[field]
    if (secret) mapped[field] = transform(secret)
  }
  return mapped
}

/**
 * Encrypts the secrets of an action. Replaces placeholders by the secrets of `stored`,
 * which are encrypted.
 */
function encryptSecrets(
  action: AlertAction,
  stored: AlertAction | undefined,
  secrets: Secrets,
): AlertAction {
  const encrypted = mapSecrets(action, secret =>
    secret === REDACTED ? REDACTED : secrets.encrypt(secret),
  )
  for (const field of SECRET_FIELDS) {
    if (encrypted[field] === REDACTED) encrypted[field] = stored?.[field] ?? ''
  }
  return encrypted
}
