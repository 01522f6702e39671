/**
 * The first bytes of an encrypted backup: a name and the version of the format. Unencrypted backups
 * start with the magic of gzip.
 */
export const ENCRYPTED_BACKUP_MAGIC = 'EYRIEBK\x01'

/** Minimum length of a passphrase, in characters. */
export const MIN_PASSPHRASE_LENGTH = 12
