import {
  findSecret,
  mapSecrets,
  REDACTED,
  redactAddress,
  type SecretLocation,
} from '@eyrie/contract/address'
import { isEncrypted } from '@eyrie/kit/secrets'
import { fieldError } from '../errors/field-errors.ts'
import type { Secrets } from '../secrets/secrets.ts'

/**
 * Addresses of sources and of streams as the database stores them: each password and token in an
 * address is encrypted on its own, and the rest is plain text. Responses contain `***` instead. A
 * client that sends the `***` back leaves the stored secret unchanged.
 */

/** Returns a stored address with every password and token replaced by `***`. */
export const redactStoredAddress = (stored: string): string => mapAddress(stored, redactAddress)

/**
 * Returns a stored address in plain text. Secrets that an earlier release has stored in plain text
 * are returned unchanged.
 */
export const decryptAddress = (stored: string, secrets: Secrets): string =>
  mapAddressSecrets(stored, secret => (isEncrypted(secret) ? secrets.decrypt(secret) : secret))

/** Encrypts the secrets that an earlier release has stored in plain text. */
export const encryptPlainSecrets = (stored: string, secrets: Secrets): string =>
  mapAddressSecrets(stored, secret => encryptOnce(secret, secrets))

const encryptOnce = (secret: string, { encrypt }: Secrets) =>
  isEncrypted(secret) ? secret : encrypt(secret)

/** A change of an address by a client. */
interface AddressChange {
  /** The new address, in which `***` refers to a stored secret. */
  address: string
  /** The address as stored. Undefined if the record is new. */
  stored: string | undefined
  /** Whether the stored secrets may be sent to the server of the new address. */
  hasSameServer: boolean
  /** Name of the field in errors. */
  field: string
}

/**
 * Returns the value to store for a new address. Throws `EyrieError` (`syntax`) if the address
 * contains `***` for a secret that is not stored, or that is stored for another server.
 */
export function encryptAddress(
  { address, stored, hasSameServer, field }: AddressChange,
  secrets: Secrets,
): string {
  const isUnchanged = stored !== undefined && address.trim() === redactStoredAddress(stored)
  // An address may have two query parameters of the same name, which `findSecret` cannot
  // distinguish.
  if (isUnchanged && hasSameServer) return encryptPlainSecrets(stored, secrets)

  const findStored = (location: SecretLocation) =>
    stored === undefined ? undefined : findSecret(completeAddress(stored), location)

  const toStoredSecret = (secret: string, location: SecretLocation) => {
    // A secret that looks encrypted is encrypted, too. Otherwise a client could send an encrypted
    // secret from a copy of the database, and management would decrypt it.
    if (secret !== REDACTED) return secrets.encrypt(secret)

    const storedSecret = findStored(location)
    if (storedSecret === undefined) {
      throw fieldError(
        field,
        `${REDACTED} refers to a stored secret, but none is stored: send the secret itself`,
      )
    }
    if (!hasSameServer) {
      throw fieldError(
        field,
        `${REDACTED} refers to a secret that is stored for another protocol, host or port: send the secret itself`,
      )
    }
    return encryptOnce(storedSecret, secrets)
  }
  return mapAddressSecrets(address, toStoredSecret)
}

/** The scheme of addresses without one. The protocol of the stream determines the real one. */
const SCHEME = 'rtsp://'

/**
 * Returns an address with a scheme, as functions for the secrets in URLs expect it. The address of
 * a stream may be a host without a scheme, such as `admin:password@10.0.0.5/main`. A path is
 * returned unchanged.
 */
export function completeAddress(text: string): string {
  const address = text.trim()
  const isComplete = address.startsWith('/') || /^[a-z][a-z0-9+.-]*:\/\//i.test(address)
  return isComplete ? address : SCHEME + address
}

/** Replaces each password and token in an address. */
const mapAddressSecrets = (
  address: string,
  map: (secret: string, location: SecretLocation) => string,
): string => mapAddress(address, url => mapSecrets(url, map))

/** Maps an address as a URL. An address without a scheme remains without one. */
function mapAddress(text: string, map: (url: string) => string): string {
  const url = completeAddress(text)
  return url === text.trim() ? map(url) : map(url).slice(SCHEME.length)
}
