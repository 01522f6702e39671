import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Activation, activation } from '@eyrie/contract/activation'
import type { Settings } from '@eyrie/contract/settings'
import type { Log, TlsIdentity } from '@eyrie/kit'
import { readPool } from '@eyrie/license'
import type { z } from 'zod'

const DAY_MS = 86_400_000
/** Licenses and certificates are reported this long before they expire. */
const WARNING_DAYS = 30

/** A license or a certificate that expires soon, or has expired. */
export interface Expiry {
  kind: 'certificate' | 'license'
  /** Epoch ms. */
  expiresAtMs: number
  /** What expires and what to do, as a sentence for the operator. */
  description: string
}

export interface ExpiryOptions {
  /** The certificate of the appliance. */
  tls: TlsIdentity | undefined
  /** The signed licenses of the engine on this machine. */
  licensePool: Settings['engine']['license_pool']
  /** The engine on this machine. */
  engine: { get<Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.output<Schema>> }
  /** Epoch ms. */
  now(): number
}

/**
 * Returns the license and the certificate of this appliance if they expire within `WARNING_DAYS` or
 * have expired.
 */
export async function findExpiries(options: ExpiryOptions): Promise<Expiry[]> {
  const expiries = [readCertificateExpiry(options), await readLicenseExpiry(options)]
  const reportedUntilMs = options.now() + WARNING_DAYS * DAY_MS
  return expiries
    .filter(expiry => expiry !== undefined)
    .filter(({ expiresAtMs }) => expiresAtMs < reportedUntilMs)
}

function readCertificateExpiry({ tls, now }: ExpiryOptions): Expiry | undefined {
  if (!tls) return undefined
  const expiresAtMs = new X509Certificate(tls.cert).validToDate.getTime()
  const when = describeExpiry(expiresAtMs, now())
  const description = `the certificate of EYRIE_TLS_CERT ${when}: replace it, and restart Eyrie`
  return { kind: 'certificate', expiresAtMs, description }
}

/**
 * Returns when the active license of the engine expires. Undefined if no license is active, or if
 * it does not expire.
 */
async function readLicenseExpiry({
  licensePool,
  engine,
  now,
}: ExpiryOptions): Promise<Expiry | undefined> {
  if (!licensePool) return undefined
  const { license }: Activation = await engine.get('/api/v3/activation', activation)
  const entries = readPool(readFileSync(licensePool.file, 'utf8'), licensePool.public_key)
  const activeEntry = entries.find(
    ({ customer, subscription, pool }) =>
      customer === license?.customer &&
      subscription === license.subscription &&
      pool === license.pool,
  )
  if (!activeEntry?.until) return undefined

  const expiresAtMs = Date.parse(activeEntry.until)
  const subject = `the license ${activeEntry.subscription} of ${activeEntry.customer}`
  const remedy = 'obtain a new license pool, and set engine.license_pool in eyrie.json'
  const when = describeExpiry(expiresAtMs, now())
  return { kind: 'license', expiresAtMs, description: `${subject} ${when}: ${remedy}` }
}

/** Returns the end of a validity, such as `ends on 2026-01-31, in 12 days`. */
function describeExpiry(expiresAtMs: number, nowMs: number): string {
  const date = new Date(expiresAtMs).toISOString().slice(0, 10)
  const days = Math.floor((expiresAtMs - nowMs) / DAY_MS)
  return days < 0 ? `has ended on ${date}` : `ends on ${date}, in ${days} days`
}

/** The job `expiry`, which checks whether the license or the certificate expires soon. */
export interface ExpiryCheck {
  run(context: { log: Log }): Promise<string>
  /** Returns what the last run has found, as messages for the operator. */
  alarms(): string[]
}

export function createExpiryCheck(options: ExpiryOptions): ExpiryCheck {
  let expiries: Expiry[] = []
  const describeAll = () => expiries.map(({ description }) => description)

  return {
    async run({ log }) {
      expiries = await findExpiries(options)
      for (const { kind, description } of expiries) {
        log.warn({ kind, reason: description }, 'validity ends soon')
      }
      return expiries.length === 0
        ? `nothing ends within ${WARNING_DAYS} days`
        : describeAll().join('; ')
    },
    alarms: describeAll,
  }
}
