import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** `process 4711 (envoy)`, which listens on a TCP port; undefined when it is not to be seen, as those of other users. */
export function portHolder(port: number): string | undefined {
  const inodes = new Set(['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) => listeningInodes(read(table), port)));
  if (inodes.size === 0) return undefined;
  for (const pid of list('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const sockets = list(`/proc/${pid}/fd`).map((fd) => /^socket:\[(\d+)\]$/.exec(link(`/proc/${pid}/fd/${fd}`))?.[1]);
    if (sockets.some((inode) => inode !== undefined && inodes.has(inode))) {
      return `process ${pid} (${read(`/proc/${pid}/comm`).trim()})`;
    }
  }
  return undefined;
}

/** @param table of proc(5) `/proc/net/tcp`: local address, state (0A: listening) and inode are columns 1, 3 and 9 */
export function listeningInodes(table: string, port: number): readonly string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table.split('\n').flatMap((row) => {
    const columns = row.trim().split(/\s+/);
    return columns[3] === '0A' && columns[1]?.endsWith(suffix) ? [columns[9] ?? ''] : [];
  });
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

function list(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function link(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
