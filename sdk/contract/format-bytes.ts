const BYTES_PER_MB = 1e6
const BYTES_PER_GB = 1e9
const BYTES_PER_MIB = 1 << 20

/**
 * Formats a size for people: `35.2 MB`, `1.1 GB`. The units are decimal, as on disks and in file
 * managers. Fields of the API contain bytes.
 */
export function formatBytes(bytes: number): string {
  const megabytes = (bytes / BYTES_PER_MB).toFixed(1)
  // A size that would be rounded to 1000.0 MB is shown as 1.0 GB.
  return Number(megabytes) < 1000 ? `${megabytes} MB` : `${(bytes / BYTES_PER_GB).toFixed(1)} GB`
}

/** Formats a limit exactly: `4 MiB`, `1000 bytes`. */
export const formatByteLimit = (bytes: number): string =>
  bytes % BYTES_PER_MIB === 0 ? `${bytes / BYTES_PER_MIB} MiB` : `${bytes} bytes`
