"""Sends what a Python process means for https://api.telegram.org to the rig's stub, on this machine.

The rig puts this file on PYTHONPATH as `sitecustomize`; the program notices nothing. Every client (urllib, requests,
httpx, aiohttp) asks `socket` for the host's address and `ssl` to encrypt, so that these two are replaced: Telegram's
host has the stub's address, and what would be encrypted for it goes as it is. uvloop and aiodns ask for addresses by
themselves and are told apart. Nothing is imported that the program does not import. A mark named by the process's id
says that the file was loaded, and later that it was of use.
"""


def _redirect(stub, marks):
    import os
    import sys

    telegram = "api.telegram.org"
    # What its name resolves to. Some clients (anyio) keep the address alone and not the port beside it, so that the
    # stub's own would not do; on loopback too, what goes there by another way finds nobody.
    standing_in = "127.84.71.66"
    stub_host, _, stub_port = stub.rpartition("/")[2].rpartition(":")
    stub_port = int(stub_port)
    marked = {}

    def mark(word):
        # A forked child has a mark of its own.
        pid = os.getpid()
        if marked.get(pid) == word:
            return
        marked[pid] = word
        try:
            with open(f"{marks}/{pid}", "w") as file:
                file.write(word)
        except OSError:
            # Then the rig says that it does not know.
            pass

    def is_telegram(name):
        if isinstance(name, bytes):
            name = name.decode("latin-1")
        return isinstance(name, str) and name.lower().rstrip(".") in (telegram, standing_in)

    def patch_socket(socket):
        ask, connect, connect_ex = socket.getaddrinfo, socket.socket.connect, socket.socket.connect_ex

        def getaddrinfo(host, port, family=0, type=0, proto=0, flags=0):
            if is_telegram(host):
                return ask(standing_in, port, socket.AF_INET, type, proto)
            return ask(host, port, family, type, proto, flags)

        def local(address):
            if not isinstance(address, tuple) or not address or not is_telegram(address[0]):
                return address
            mark("redirected")
            return (stub_host, stub_port)

        def named(look_up):
            return lambda host: look_up(standing_in if is_telegram(host) else host)

        socket.getaddrinfo = getaddrinfo
        socket.gethostbyname = named(socket.gethostbyname)
        socket.gethostbyname_ex = named(socket.gethostbyname_ex)
        socket.socket.connect = lambda self, address: connect(self, local(address))
        socket.socket.connect_ex = lambda self, address: connect_ex(self, local(address))

    def patch_ssl(ssl):
        import socket

        class Bare:
            """As clients ask an encrypted connection that is in order."""

            context = server_hostname = session = None
            server_side = session_reused = False

            def do_handshake(self, block=False):
                pass

            def getpeercert(self, binary_form=False):
                return b"" if binary_form else {}

            def selected_alpn_protocol(self):
                return None

            def get_channel_binding(self, cb_type="tls-unique"):
                return None

            def get_verified_chain(self):
                return []

            selected_npn_protocol = compression = shared_ciphers = selected_alpn_protocol
            get_unverified_chain = get_verified_chain

            def cipher(self):
                return ("TLS_AES_256_GCM_SHA384", "TLSv1.3", 256)

            def version(self):
                return "TLSv1.3"

        class BareSocket(Bare, socket.socket):
            def unwrap(self):
                return self

            def pending(self):
                return 0

        class BareObject(Bare):
            """What reads and writes the bytes that a loop carries: as they are."""

            def __init__(self, incoming, outgoing):
                self.incoming, self.outgoing = incoming, outgoing

            def read(self, size=1024, buffer=None):
                if not self.incoming.pending and not self.incoming.eof:
                    raise ssl.SSLWantReadError(ssl.SSL_ERROR_WANT_READ, "nothing has come yet")
                read = self.incoming.read(size)
                if buffer is None:
                    return read
                buffer[: len(read)] = read
                return len(read)

            def write(self, data):
                return self.outgoing.write(data)

            def pending(self):
                return self.incoming.pending

            def unwrap(self):
                pass

        wrap_socket, wrap_bio = ssl.SSLContext.wrap_socket, ssl.SSLContext.wrap_bio

        def bare_socket(self, sock, *given, **named):
            if not is_telegram(named.get("server_hostname", given[3] if len(given) > 3 else None)):
                return wrap_socket(self, sock, *given, **named)
            timeout = sock.gettimeout()
            bare = BareSocket(sock.family, sock.type, sock.proto, fileno=sock.detach())
            bare.settimeout(timeout)
            return bare

        def bare_bio(self, incoming, outgoing, server_side=False, server_hostname=None, session=None):
            if is_telegram(server_hostname):
                return BareObject(incoming, outgoing)
            return wrap_bio(self, incoming, outgoing, server_side, server_hostname, session)

        ssl.SSLContext.wrap_socket, ssl.SSLContext.wrap_bio = bare_socket, bare_bio

    def patch_uvloop(uvloop):
        """Its loops resolve names by themselves."""
        import socket

        ask, create = uvloop.Loop.getaddrinfo, uvloop.Loop.create_connection

        async def getaddrinfo(self, host, port, **named):
            if is_telegram(host):
                return socket.getaddrinfo(host, port, type=named.get("type", 0), proto=named.get("proto", 0))
            return await ask(self, host, port, **named)

        async def create_connection(self, protocol_factory, host=None, port=None, **named):
            if is_telegram(host):
                mark("redirected")
                if named.get("ssl"):
                    named.setdefault("server_hostname", host)
                host, port = stub_host, stub_port
            return await create(self, protocol_factory, host, port, **named)

        uvloop.Loop.getaddrinfo, uvloop.Loop.create_connection = getaddrinfo, create_connection

    def patch_resolver(resolver):
        """aiohttp asks aiodns where that is installed."""
        resolve = resolver.AsyncResolver.resolve

        async def resolved(self, host, *given, **named):
            if is_telegram(host):
                return await resolver.ThreadedResolver().resolve(host, *given, **named)
            return await resolve(self, host, *given, **named)

        resolver.AsyncResolver.resolve = resolved

    patches = {
        "socket": patch_socket,
        "ssl": patch_ssl,
        "uvloop": patch_uvloop,
        "aiohttp.resolver": patch_resolver,
    }

    class Finder:
        """Waits for the program to import these, and changes them before it has them."""

        @staticmethod
        def find_spec(name, path=None, target=None):
            patch = patches.pop(name, None)
            if patch is None:
                return None
            others = [finder for finder in sys.meta_path if finder is not Finder]
            found = (finder.find_spec(name, path, target) for finder in others)
            spec = next((spec for spec in found if spec is not None), None)
            if spec is None:
                # It may be found later, from another folder.
                patches[name] = patch
                return None
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                try:
                    patch(module)
                except Exception:
                    pass

            spec.loader.exec_module = exec_module
            return spec

    for name in [name for name in patches if name in sys.modules]:
        patches.pop(name)(sys.modules[name])
    sys.meta_path.insert(0, Finder)
    os.register_at_fork(after_in_child=lambda: mark("loaded"))
    mark("loaded")


def _start():
    import os

    stub = os.environ.get("FLOODRIG_REDIRECT")
    if stub:
        try:
            _redirect(stub, os.environ.get("FLOODRIG_REDIRECT_MARKS"))
        except Exception:
            # A hook must never be the reason why a program does not start.
            pass


_start()
