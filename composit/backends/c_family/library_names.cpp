// What headers of C's library declare outside of namespaces, and what compilers know as functions
// without any header.
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/ir/scalar/row.h"

#include <array>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_set>

namespace composit::c_family {
namespace {

using Words = std::unordered_set<std::string>;

Words words_of(const char* text) {
    std::istringstream all(text);
    Words words;
    for (std::string word; all >> word;) words.insert(word);
    return words;
}

// Of double, each with one of float, powf, of long double, powl, and of sized floats, powf32x.
const Words& of_floats() {
    static const Words words = words_of(
        "acos acosh asin asinh atan atan2 atanh cabs cacos cacosh canonicalize carg casin "
        "casinh catan catanh cbrt ccos ccosh ceil cexp cimag clog conj copysign cos cosh cpow "
        "cproj creal csin csinh csqrt ctan ctanh drem erf erfc exp exp10 exp2 expm1 fabs fdim "
        "finite floor fma fmax fmaximum fmaximum_mag fmaximum_mag_num fmaximum_num fmaxmag "
        "fmin fminimum fminimum_mag fminimum_mag_num fminimum_num fminmag fmod frexp fromfp "
        "fromfpx gamma getpayload hypot ilogb isinf isnan j0 j1 jn ldexp lgamma llogb llrint "
        "llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nextdown "
        "nexttoward nextup pow remainder remquo rint round roundeven scalb scalbln scalbn "
        "setpayload setpayloadsig significand sin sincos sinh sqrt tan tanh tgamma totalorder "
        "totalordermag trunc ufromfp ufromfpx y0 y1 yn ");
    return words;
}

const Words& others() {
    static const Words words = words_of(
        "FILE a64l abort abs access acct alarm aligned_alloc alloca arc4random arc4random_buf "
        "arc4random_uniform asctime asprintf atexit atof atoi atol atoll basename bcmp bcopy "
        "brk bsearch btowc bzero calloc canonicalize_file_name chdir chmod chown chroot "
        "clearenv clearerr clock clock_adjtime clock_getcpuclockid clock_getres clock_gettime "
        "clock_nanosleep clock_settime clone close close_range closefrom confstr "
        "copy_file_range ctermid ctime cuserid daddl daemon daylight ddivl dfmal difftime div "
        "dmull dprintf drand48 dsqrtl dsubl dup dup2 dup3 duplocale dysize eaccess ecvt "
        "endusershell environ erand48 euidaccess execl execle execlp execv execve execveat "
        "execvp execvpe exit explicit_bzero faccessat fadd faddl fchdir fchown fchownat fclose "
        "fcloseall fcvt fdatasync fdiv fdivl fdopen feclearexcept fegetenv fegetexceptflag "
        "fegetround feholdexcept feof feraiseexcept ferror fesetenv fesetexceptflag fesetround "
        "fetestexcept feupdateenv fexecve fflush ffma ffmal ffs ffsl ffsll fgetc fgetpos fgets "
        "fgetwc fgetws fileno flockfile fmemopen fmul fmull fopen fopencookie fork fpathconf "
        "fprintf fputc fputs fputwc fputws fread free freelocale freopen fscanf fseek fseeko "
        "fsetpos fsqrt fsqrtl fsub fsubl fsync ftell ftello ftruncate ftrylockfile funlockfile "
        "fwide fwprintf fwrite fwscanf gcvt get_current_dir_name getc getchar getcpu getcwd "
        "getdate getdate_err getdelim getdomainname getdtablesize getegid getentropy getenv "
        "geteuid getgid getgroups gethostid gethostname getline getloadavg getlogin getopt "
        "getpagesize getpass getpgid getpgrp getpid getppid getpt getresgid getresuid gets "
        "getsid getsubopt gettid getuid getusershell getw getwc getwchar getwd gmtime grantpt "
        "group_member gsignal imaxabs index initstate isalnum isalpha isascii isatty isblank "
        "iscntrl isctype isdigit isgraph islower isprint ispunct isspace isupper iswalnum "
        "iswalpha iswblank iswcntrl iswctype iswdigit iswgraph iswlower iswprint iswpunct "
        "iswspace iswupper iswxdigit isxdigit iszero jmp_buf jrand48 kill killpg l64a labs "
        "lchown lcong48 ldiv link linkat llabs lldiv localeconv localtime lockf longjmp "
        "lrand48 lseek malloc mblen mbrlen mbrtowc mbsinit mbsnrtowcs mbsrtowcs mbstowcs "
        "mbtowc memccpy memchr memcmp memcpy memfrob memmem memmove mempcpy memrchr memset "
        "mkdtemp mkostemp mkostemps mkstemp mkstemps mktemp mktime mrand48 nanosleep newlocale "
        "nice nrand48 obstack_printf obstack_vprintf on_exit open_memstream open_wmemstream "
        "optarg opterr optind optopt pathconf pause pclose perror pipe pipe2 popen "
        "posix_memalign posix_openpt pow10 pread printf profil program_invocation_name pselect "
        "psiginfo psignal ptsname putc putchar putenv puts putw putwc putwchar pwrite qecvt "
        "qfcvt qgcvt qsort quick_exit raise rand random rawmemchr read readlink readlinkat "
        "realloc reallocarray realpath remove rename renameat renameat2 revoke rewind rindex "
        "rmdir rpmatch sbrk scanf sched_get_priority_max sched_get_priority_min "
        "sched_getaffinity sched_getcpu sched_getparam sched_getscheduler "
        "sched_rr_get_interval sched_setaffinity sched_setparam sched_setscheduler sched_yield "
        "secure_getenv seed48 select setbuf setbuffer setdomainname setegid setenv seteuid "
        "setgid sethostid sethostname setjmp setlinebuf setlocale setlogin setns setpgid "
        "setpgrp setregid setresgid setresuid setreuid setsid setstate setuid setusershell "
        "setvbuf sigabbrev_np sigaction sigaddset sigaltstack sigandset sigblock sigdelset "
        "sigdescr_np sigemptyset sigfillset siggetmask sighold sigignore siginterrupt "
        "sigisemptyset sigismember sigjmp_buf siglongjmp signal sigorset sigpause sigpending "
        "sigprocmask sigqueue sigrelse sigreturn sigset sigsetmask sigstack sigsuspend "
        "sigtimedwait sigwait sigwaitinfo sleep snprintf sprintf srand srand48 srandom sscanf "
        "ssignal stat stpcpy stpncpy strcasecmp strcasestr strcat strchr strchrnul strcmp "
        "strcoll strcpy strcspn strdup strerror strerrordesc_np strerrorname_np strfromd "
        "strfromf strfromf128 strfromf32 strfromf32x strfromf64x strfroml strfry strftime "
        "strlen strncasecmp strncat strncmp strncpy strndup strnlen strpbrk strptime strrchr "
        "strsep strsignal strspn strstr strtod strtof strtof128 strtof32 strtof32x strtof64x "
        "strtok strtol strtold strtoll strtoq strtoul strtoull strtouq strverscmp strxfrm swab "
        "swprintf swscanf symlink symlinkat sync syncfs syscall sysconf system sysv_signal "
        "tcgetpgrp tcsetpgrp tempnam tgkill time timegm timelocal timer_create timer_delete "
        "timer_getoverrun timer_gettime timer_settime timespec timespec_get timespec_getres "
        "timeval timezone tm tmpfile tmpnam toascii tolower toupper towctrans towlower "
        "towupper truncate ttyname ttyslot tzname tzset ualarm uint ulong ungetc ungetwc "
        "unlink unlinkat unlockpt unsetenv unshare uselocale ushort usleep va_list valloc "
        "vasprintf vdprintf vfork vfprintf vfscanf vfwprintf vfwscanf vhangup vprintf vscanf "
        "vsnprintf vsprintf vsscanf vswprintf vswscanf vwprintf vwscanf wait wcpcpy wcpncpy "
        "wcrtomb wcscasecmp wcscat wcschr wcschrnul wcscmp wcscoll wcscpy wcscspn wcsdup "
        "wcsftime wcslen wcsncasecmp wcsncat wcsncmp wcsncpy wcsnlen wcsnrtombs wcspbrk "
        "wcsrchr wcsrtombs wcsspn wcsstr wcstod wcstof wcstof128 wcstof32 wcstof32x wcstof64x "
        "wcstok wcstol wcstold wcstoll wcstombs wcstoq wcstoul wcstoull wcstouq wcswcs "
        "wcswidth wcsxfrm wctob wctomb wctrans wctype wcwidth wmemchr wmemcmp wmemcpy wmemmove "
        "wmempcpy wmemset wprintf write wscanf ");
    return words;
}

bool is_of_floats(std::string_view name) {
    constexpr std::array<std::string_view, 8> suffixes = {"",    "f",    "l",    "f32",
                                                          "f64", "f128", "f32x", "f64x"};
    for (const std::string_view suffix : suffixes)
        if (name.ends_with(suffix) &&
            of_floats().contains(std::string(name.substr(0, name.size() - suffix.size()))))
            return true;
    return false;
}

}  // namespace

bool is_function_of_floats(const std::string& name) {
    static const Words words = [] {
        Words made;
        for (const ir::scalar::RowRef& row : ir::scalar::all_rows())
            if (!ir::scalar::is_user_row(*row) && of_floats().contains(row->name))
                made.insert(row->name);
        return made;
    }();
    return words.contains(name);
}

bool is_of_library(std::string_view name) {
    if (name.starts_with("pthread_")) return true;
    constexpr std::array<std::string_view, 5> suffixes = {"", "_r", "_l", "_unlocked", "64"};
    for (const std::string_view suffix : suffixes) {
        if (!name.ends_with(suffix)) continue;
        const std::string_view stem = name.substr(0, name.size() - suffix.size());
        if (others().contains(std::string(stem)) || is_of_floats(stem)) return true;
    }
    return false;
}

}  // namespace composit::c_family
